// The text of an access token. The chat server accepts those that people have made, so their form is shared.

export {
  accessTokenDigest,
  isAccessToken,
  makeAccessToken,
  startOf,
  type TokenPrefix,
} from "@plugboard/shared/access-tokens/form";
