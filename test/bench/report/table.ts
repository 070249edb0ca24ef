// Tables as Markdown with padded columns, as the formatter writes them.

export function toTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(3, ...all.map((row) => width(row[column] ?? ""))));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((wide, column) => pad(cells[column] ?? "", wide)).join(" | ")} |`;
  return [line(header), `| ${widths.map((wide) => "-".repeat(wide)).join(" | ")} |`, ...rows.map(line)].join("\n");
}

function pad(text: string, wide: number): string {
  return text + " ".repeat(wide - width(text));
}

function width(text: string): number {
  return Array.from(text).length;
}

/** With the significant digits: 12,345, 87, 4.3, 0.17. */
export function toNumber(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 10 ? 0 : size >= 1 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
