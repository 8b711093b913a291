// SPDX-License-Identifier: MIT
//
// Numbers as people read them.

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function count(value: number): string {
  return whole.format(value);
}

export function percent(share: number): string {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "<0.1 %";
  return `${value < 10 ? value.toFixed(1) : value.toFixed(value === 100 ? 0 : 1)} %`;
}

export function fixed(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined || !Number.isFinite(value)
    ? "–"
    : value
        .toFixed(digits)
        .replace(/^-(0(\.0+)?)$/, "$1")
        .replace("-", "−");
}

export function degrees(value: number | null | undefined, digits = 1): string {
  return value === null || value === undefined ? "–" : `${fixed(value, digits)}°`;
}

/** Any number in a few significant digits; whole numbers whole. */
export function number(value: number): string {
  if (Number.isInteger(value)) return count(value);
  const size = Math.abs(value);
  if (size >= 1000) return count(Math.round(value));
  if (size < 0.001) return value.toExponential(2);
  return String(Number(value.toPrecision(4))).replace("-", "−");
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** "max_iterations" as "max iterations". */
export function words(name: string): string {
  return name.replace(/[_-]+/g, " ");
}
