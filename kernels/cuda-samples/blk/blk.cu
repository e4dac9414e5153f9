// Prices of European options by the formula of Black and Scholes (1973): two options per thread, five streams of 8 bytes.
//
// With spot price S, strike price X, years T, rate r and volatility v:
//
//     d1 = (ln(S / X) + (r + v^2 / 2) T) / (v sqrt(T)),   d2 = d1 - v sqrt(T)
//     call = S N(d1) - X exp(-r T) N(d2),                 put = X exp(-r T) N(-d2) - S N(-d1)
//
// N is the normal distribution, by the polynomial 26.2.17 of Abramowitz and Stegun (error below 7.5e-8).
//
// Options come in pairs; threads beyond the last pair have nothing to do.

// The density of the normal distribution times the polynomial, for d >= 0: 1 - N(d).
__device__ float upper_tail(float d)
{
    const float t = __fdividef(1.0f, 1.0f + 0.2316419f * d);
    const float polynomial = t * (0.319381530f + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f))));
    return 0.39894228f * __expf(-0.5f * d * d) * polynomial;
}

__device__ float normal(float d)
{
    const float tail = upper_tail(fabsf(d));
    return d > 0.0f ? 1.0f - tail : tail;
}

__device__ void price(float& call, float& put, float spot, float strike, float years, float rate, float volatility)
{
    const float root = sqrtf(years);
    const float d1 = __fdividef(__logf(spot / strike) + (rate + 0.5f * volatility * volatility) * years, volatility * root);
    const float d2 = d1 - volatility * root;
    const float n1 = normal(d1);
    const float n2 = normal(d2);
    const float discounted = strike * __expf(-rate * years);
    call = spot * n1 - discounted * n2;
    put = discounted * (1.0f - n2) - spot * (1.0f - n1);
}

extern "C" __global__ void __launch_bounds__(128)
blk(float2* call, float2* put, const float2* spot, const float2* strike, const float2* years, float rate, float volatility, int options)
{
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= options / 2) {
        return;
    }
    const float2 s = spot[pair];
    const float2 x = strike[pair];
    const float2 t = years[pair];
    float2 c, p;
    price(c.x, p.x, s.x, x.x, t.x, rate, volatility);
    price(c.y, p.y, s.y, x.y, t.y, rate, volatility);
    call[pair] = c;
    put[pair] = p;
}
