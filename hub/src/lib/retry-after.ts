/** The header Retry-After in either of its forms, seconds or a date, as milliseconds from now. */
export function retryAfter(header: string | null = ""): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
