// Which names of members mean a credential: `password`, `X-Api-Key`, `refreshToken`. One list, for the redactor and for
// whoever must tell a secret setting from a plain one.

/** Matched against the name in lower case with nothing but its letters and digits, so case and separators do not matter. */
const CREDENTIAL = new RegExp(
  [
    "password|passwd|passphrase|passcode|pwd$|secret|token|cookie|credential|bearer|apikey|accesskey|privatekey",
    "authorization|(?:^|basic|proxy|http|o)auth$|sessionid$|jwt$|otp$",
    "(?:account|auth|client|encryption|host|license|master|rsa|service|shared|signing|ssh)key$",
  ].join("|"),
);

/** Names that only look like one: paging, progress, and the settings around a credential. */
const HARMLESS = new RegExp(
  [
    "^(?:progress|page|nextpage|prevpage|next|continuation|sync)token$",
    "(?:token|secret|cookie|credential|password)s?(?:budget|count|enabled|endpoint|expir[a-z]*|length|limit|name|policy|required|type|ur[il]|usage)$",
  ].join("|"),
);

/**
 * Whether the value under this name is to be hidden.
 *
 * @example isCredentialKey("X-API-Key") // true
 */
export function isCredentialKey(key: string): boolean {
  const name = bare(key);
  return CREDENTIAL.test(name) && !HARMLESS.test(name);
}

/** The same with the value in hand: a number of tokens is no token, and nothing is given away by yes, no and nothing. */
export function isCredential(key: string, value: unknown): boolean {
  if (value === null || value === "" || typeof value === "boolean") return false;
  return isCredentialKey(key) && !(typeof value === "number" && bare(key).includes("tokens"));
}

/**
 * Four bytes each; every name that counts as a credential holds one of them, in any case and with any separator between
 * its words. The quotes and the backslash are what can follow the name where JSON is written.
 */
export const CREDENTIAL_HINTS: readonly string[] = [
  "pass secr toke cook cred bear apik api_ api- api. acce priv auth n_id n-id".split(" "),
  ["api ", "n id"],
  ["pwd", "key", "jwt", "otp", "nid"].flatMap((word) => ['"', "'", "\\"].map((end) => word + end)),
].flat();

function bare(key: string): string {
  return key.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
