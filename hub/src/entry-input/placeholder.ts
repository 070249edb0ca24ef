// Recognizes values of examples that stand for a value of the reader's own: <YOUR_TOKEN>, your-api-key, xxxx.

const PLACEHOLDERS = [
  /^$/,
  /^<[^<>]*>$/,
  /^\[[^[\]]*\]$/,
  /^\{\{?[^{}]*\}?\}$/,
  /^(?:\.{3}|…)$/,
  /^[x*]{3,}$/i,
  /^(?:your|my|insert|enter|replace)[-_ ]/i,
  /[-_ ](?:here|goes[-_ ]here)$/i,
  /^(?:changeme|change[-_]me|todo|tbd)$/i,
];

/** @example isPlaceholder("YOUR_API_KEY") // true */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDERS.some((pattern) => pattern.test(text.trim()));
}
