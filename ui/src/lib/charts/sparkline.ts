// The path of a sparkline: one bar or point per value, gaps where there is none.

export function barPath(values: readonly (number | null)[], width: number, height: number): string {
  const most = Math.max(1, ...values.map((value) => value ?? 0));
  const step = width / Math.max(1, values.length);
  const bar = Math.max(0.5, step - Math.min(1, step * 0.25));
  return values
    .flatMap((value, index) => {
      if (value === null || value <= 0) return [];
      const tall = Math.max(1, (value / most) * height);
      return [`M${round(index * step)} ${height}v${round(-tall)}h${round(bar)}v${round(tall)}z`];
    })
    .join("");
}

export function linePath(values: readonly (number | null)[], width: number, height: number): string {
  const place = placeIn(values, width, height);
  let isGap = true;
  return values
    .flatMap((value, index) => {
      if (value === null) {
        isGap = true;
        return [];
      }
      const command = isGap ? "M" : "L";
      isGap = false;
      return [`${command}${place(value, index)}`];
    })
    .join("");
}

/** Values alone between two gaps: lines of no length, which a round end makes dots. */
export function dotPath(values: readonly (number | null)[], width: number, height: number): string {
  const place = placeIn(values, width, height);
  const isGap = (index: number) => (values[index] ?? null) === null;
  return values
    .flatMap((value, index) =>
      value === null || !isGap(index - 1) || !isGap(index + 1) ? [] : [`M${place(value, index)}h0.01`],
    )
    .join("");
}

function placeIn(values: readonly (number | null)[], width: number, height: number) {
  const most = Math.max(1e-9, ...values.map((value) => value ?? 0));
  const step = width / Math.max(1, values.length - 1);
  return (value: number, index: number) =>
    `${round(index * step)} ${round(height - 1 - (value / most) * (height - 2))}`;
}

const round = (value: number) => Math.round(value * 100) / 100;
