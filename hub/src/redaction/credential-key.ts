// The list of names that mean a credential: `password`, `X-Api-Key`, `refreshToken`.

/** Matched against the letters and digits of the name in lower case, so case and separators do not matter. */
const CREDENTIAL = new RegExp(
  [
    "password|passwd|passphrase|passcode|pwd$|secret|token|cookie|credential|bearer|apikey|accesskey|privatekey",
    "authorization|(?:^|basic|proxy|http|o)auth$|sessionid$|jwt$|otp$",
    "(?:account|auth|client|encryption|host|license|master|rsa|service|shared|signing|ssh)key$",
  ].join("|"),
);

/** Names that only look like a credential: paging, progress, and settings about credentials. */
const NO_CREDENTIAL = new RegExp(
  [
    "^(?:progress|page|nextpage|prevpage|next|continuation|sync)token$",
    "(?:token|secret|cookie|credential|password)s?(?:budget|count|enabled|endpoint|expir[a-z]*|length|limit|name|policy|required|type|ur[il]|usage)$",
  ].join("|"),
);

/**
 * Whether a value with this name must be masked.
 *
 * @example isCredentialKey("X-API-Key") // true
 */
export function isCredentialKey(key: string): boolean {
  const name = normalized(key);
  return CREDENTIAL.test(name) && !NO_CREDENTIAL.test(name);
}

/** Like `isCredentialKey`, but considers the value too: a number of tokens, a boolean or an empty value is no secret. */
export function isCredential(key: string, value: unknown): boolean {
  if (value === null || value === "" || typeof value === "boolean") return false;
  return isCredentialKey(key) && !(typeof value === "number" && normalized(key).includes("tokens"));
}

/**
 * Four bytes each. Every credential name contains one of them, in any case and with any separator between its words.
 * Quotes and the backslash can follow the name in JSON.
 */
export const CREDENTIAL_HINTS: readonly string[] = [
  "pass secr toke cook cred bear apik api_ api- api. acce priv auth n_id n-id".split(" "),
  ["api ", "n id"],
  ["pwd", "key", "jwt", "otp", "nid"].flatMap((word) => ['"', "'", "\\"].map((end) => word + end)),
].flat();

function normalized(key: string): string {
  return key.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
