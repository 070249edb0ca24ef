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
  const most = Math.max(1e-9, ...values.map((value) => value ?? 0));
  const step = width / Math.max(1, values.length - 1);
  let isGap = true;
  return values
    .flatMap((value, index) => {
      if (value === null) {
        isGap = true;
        return [];
      }
      const command = isGap ? "M" : "L";
      const [x, y] = [round(index * step), round(height - 1 - (value / most) * (height - 2))];
      // A point alone between two gaps: a line of no length has a round end.
      const dot = isGap && (values[index + 1] ?? null) === null ? "h0.01" : "";
      isGap = false;
      return [`${command}${x} ${y}${dot}`];
    })
    .join("");
}

const round = (value: number) => Math.round(value * 100) / 100;
