// Run in a page by `cargo xtask page-check`: says what overflows, and which texts of a drawing overlap or are not within it.
(() => {
  const said = [];
  const page = document.documentElement;
  if (page.scrollWidth > window.innerWidth) said.push(`the page is ${page.scrollWidth} wide in a window of ${window.innerWidth}`);
  // Less than this, in parts of the drawing's unit, is rounding.
  const least = 0.35;
  const corners = (text) => {
    const box = text.getBBox(), to = text.transform.baseVal.consolidate();
    const at = [[box.x, box.y], [box.x + box.width, box.y], [box.x + box.width, box.y + box.height], [box.x, box.y + box.height]];
    if (!to) return at;
    const m = to.matrix;
    return at.map(([x, y]) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f]);
  };
  const apart = (one, other) => one.some((_, at) => {
    const [x1, y1] = one[at], [x2, y2] = one[(at + 1) % 4];
    const nx = y2 - y1, ny = x1 - x2, length = Math.hypot(nx, ny) || 1;
    const along = (box) => box.map(([x, y]) => (x * nx + y * ny) / length);
    const a = along(one), b = along(other);
    return Math.max(...a) <= Math.min(...b) + least || Math.max(...b) <= Math.min(...a) + least;
  });
  let texts = 0;
  for (const drawing of document.querySelectorAll("svg[viewBox]")) {
    const [, , width, height] = drawing.getAttribute("viewBox").split(" ").map(Number);
    const boxes = [...drawing.querySelectorAll("text")].map((text) => [text.textContent, corners(text)]);
    texts += boxes.length;
    const name = drawing.getAttribute("aria-label") || drawing.querySelector("title")?.textContent;
    boxes.forEach(([text, box], at) => {
      if (box.some(([x, y]) => x < -least || y < -least || x > width + least || y > height + least)) said.push(`${name}: "${text}" is not within its drawing`);
      for (const [other, otherBox] of boxes.slice(at + 1)) {
        if (!apart(box, otherBox) && !apart(otherBox, box)) said.push(`${name}: "${text}" and "${other}" overlap`);
      }
    });
  }
  // To the page that shows this one in a frame as wide as is asked for: a window of its own has a least width.
  window.parent.postMessage([`${texts} texts at ${window.innerWidth}`, ...said].join("\n"), "*");
})();
