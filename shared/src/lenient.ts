// Reads text from elsewhere that may be invalid: a value in place of an error.

/** Undefined if the text is not JSON. The error of JSON.parse quotes the text, which may be private. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Percent-decoded; the text itself if that is invalid. */
export function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
