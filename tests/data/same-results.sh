#!/bin/sh
# Compares two results.csv up to renamed policies (renamed-policies.csv) and the order of rows and columns:
#   tests/data/same-results.sh BEFORE.csv AFTER.csv
# Lists columns that only one of them has, and leaves them out. Exit code 1 if anything else differs.
set -eu
for file in "$1" "$2"; do [ -s "$file" ] || { echo "$file: no results" >&2; exit 2; }; done
names=$(dirname "$0")/renamed-policies.csv
for file in "$1" "$2"; do head -n 1 "$file" | tr ',' '\n' | sort > "$file.columns"; done
comm -3 "$1.columns" "$2.columns" | sed 's/^[[:space:]]*/only in one: /'
common=$(comm -12 "$1.columns" "$2.columns" | tr '\n' ',')
rm -f "$1.columns" "$2.columns"
rows() {
    awk -F, -v common="$common" '
        FNR == NR { if (FNR > 1) new[$1] = $2; next }
        FNR == 1 { for (at = 1; at <= NF; at++) place[$at] = at; count = split(common, wanted, ","); next }
        {
            row = ""
            for (at = 1; at < count; at++) {
                value = $(place[wanted[at]])
                row = row "," (value in new ? new[value] : value)
            }
            print row
        }' "$names" "$1" | sort -u
}
rows "$1" > "$1.rows"
rows "$2" > "$2.rows"
result=0
diff "$1.rows" "$2.rows" && echo "the same: $(wc -l < "$1.rows") rows" || result=1
rm -f "$1.rows" "$2.rows"
exit $result
