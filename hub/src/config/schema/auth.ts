// How the hub authenticates to a remote server, beyond fixed headers: OAuth logins and machine credentials. This file has the types
// and the shapes that a file may have; parse/auth.ts checks which values belong together.

import * as z from "zod/mini";
import * as limits from "./limits.ts";
import * as rule from "./text.ts";

/** A credential as text, which may contain `${NAME}`, or the name of a stored secret. */
export type SecretValue = { readonly value: string } | { readonly secretRef: string };

export const AUTH_TYPES = ["none", "oauth", "client_credentials", "private_key_jwt", "workload", "enterprise"] as const;

const PER = ["hub", "user"] as const;

const METHODS = ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"] as const;

/** Asymmetric ones only: who can check a token must not be able to make one. */
export const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

export interface IdentityProvider {
  readonly issuer: string;
  /** For an identity provider without metadata. */
  readonly tokenUrl?: string;
  readonly clientId: string;
  readonly clientSecret?: SecretValue;
  readonly idToken: SecretValue;
}

export interface ServerAuth {
  /** `none`: the hub never logs in. Without `auth`: OAuth if the server asks for it and the entry sets no Authorization header. */
  readonly type: (typeof AUTH_TYPES)[number];
  /** `user`: each caller uses a login of its own; `hub`, the default: all callers use that of the hub's owner. */
  readonly per?: (typeof PER)[number];
  /** The principal whose login lists what the server offers, if each caller has one of its own. */
  readonly listAs?: string;
  readonly clientId?: string;
  readonly clientSecret?: SecretValue;
  readonly scopes?: readonly string[];
  /** The only issuer that is accepted. */
  readonly issuer?: string;
  /** The resource indicator; `false` sends none. */
  readonly resource?: string | false;
  /** `assume`: use PKCE although the metadata does not mention it. */
  readonly pkce?: "assume";
  readonly dpop?: boolean;
  readonly redirectHost?: "localhost" | "127.0.0.1";
  readonly redirectPort?: number;
  /** Address of a client ID metadata document. */
  readonly clientMetadataUrl?: string;
  readonly tokenEndpointAuthMethod?: (typeof METHODS)[number];
  /** A private key for `private_key_jwt`: PKCS#8 PEM or JWK. */
  readonly key?: SecretValue;
  readonly algorithm?: (typeof ALGORITHMS)[number];
  readonly keyId?: string;
  /** Location of the platform's JWT for a workload. */
  readonly tokenFile?: string;
  readonly tokenEnv?: string;
  readonly idp?: IdentityProvider;
  /** Whether a refresh repeats the scopes. */
  readonly refreshScope?: boolean;
  /** Whether addresses from metadata may be in a private network. */
  readonly allowPrivate?: boolean;
  /** For an authorization server without metadata. */
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
}

const line = (what: string) =>
  rule.text(what, { max: limits.URL_MAX, oneLine: true }).check(z.minLength(1, `${what} is empty`));

const secretText = rule
  .text("The secret", { max: limits.AUTH_SECRET_MAX })
  .check(z.minLength(1, "The secret is empty"));

export const secretEntry = z.union(
  [
    secretText,
    z
      .strictObject({
        value: z.optional(secretText),
        secretRef: z.optional(rule.secretName),
        secret_ref: z.optional(rule.secretName),
      })
      .check(
        z.refine(
          ({ value, secretRef, secret_ref }) => (value === undefined) !== ((secretRef ?? secret_ref) === undefined),
          "Set either value or secretRef",
        ),
      ),
  ],
  { error: "A secret must be text, or an object with secretRef" },
);

/** The characters of RFC 6749, section 3.3, and `${NAME}`. */
const SCOPE = /^[!#-[\]-~]+$/;
const scope = z
  .string()
  .check(z.maxLength(limits.SCOPE_MAX, `A scope must have at most ${limits.SCOPE_MAX} characters`))
  .check(z.regex(SCOPE, "A scope must be one word of printable ASCII characters without quotes and backslashes"));

const idpFields = {
  issuer: z.optional(line("auth.idp.issuer")),
  token_url: z.optional(line("auth.idp.token_url")),
  client_id: z.optional(line("auth.idp.client_id")),
  client_secret: z.optional(secretEntry),
  id_token: z.optional(secretEntry),
};

const oneOf = <const T extends readonly string[]>(what: string, values: T) =>
  z.enum(values, { error: `${what} must be ${values.map((value) => `"${value}"`).join(", ")}` });

const fieldsWith = <T extends z.ZodMiniType>(idp: T) => ({
  type: z.optional(oneOf("auth.type", AUTH_TYPES)),
  per: z.optional(oneOf("auth.per", PER)),
  list_as: z.optional(line("auth.list_as")),
  client_id: z.optional(line("auth.client_id")),
  client_secret: z.optional(secretEntry),
  scopes: z.optional(
    z.union(
      [
        z.array(scope).check(z.maxLength(limits.SCOPES_MAX, `At most ${limits.SCOPES_MAX} scopes are allowed`)),
        rule.text("auth.scopes", { max: limits.URL_MAX, oneLine: true }),
      ],
      { error: "auth.scopes must be a list of scopes, or one text with spaces between them" },
    ),
  ),
  issuer: z.optional(line("auth.issuer")),
  resource: z.optional(
    z.union([z.literal(false), line("auth.resource")], { error: "auth.resource must be a URI, or false to send none" }),
  ),
  pkce: z.optional(oneOf("auth.pkce", ["assume"])),
  dpop: z.optional(z.boolean()),
  redirect_host: z.optional(oneOf("auth.redirect_host", ["localhost", "127.0.0.1"])),
  redirect_port: z.optional(
    z
      .int()
      .check(
        z.gte(1, "A port must be at least 1"),
        z.lte(limits.PORT_MAX, `A port must be at most ${limits.PORT_MAX}`),
      ),
  ),
  client_metadata_url: z.optional(line("auth.client_metadata_url")),
  token_endpoint_auth_method: z.optional(oneOf("auth.token_endpoint_auth_method", METHODS)),
  key: z.optional(secretEntry),
  algorithm: z.optional(oneOf("auth.algorithm", ALGORITHMS)),
  key_id: z.optional(line("auth.key_id")),
  token_file: z.optional(rule.text("auth.token_file", { max: limits.PATH_MAX, oneLine: true })),
  token_env: z.optional(rule.envName),
  idp: z.optional(idp),
  refresh_scope: z.optional(z.boolean()),
  allow_private: z.optional(z.boolean()),
  authorization_url: z.optional(line("auth.authorization_url")),
  token_url: z.optional(line("auth.token_url")),
});

type Camel<S> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;
type BothSpellings<T> = T & { [K in keyof T as Camel<K>]: T[K] };

function bothSpellings<T extends object>(fields: T): BothSpellings<T> {
  const camel = Object.entries(fields).map(([key, field]) => [
    key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    field,
  ]);
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are built as the type says
  return { ...fields, ...Object.fromEntries(camel) } as BothSpellings<T>;
}

/** Members in snake_case only. */
export const authFields = z.strictObject(fieldsWith(z.strictObject(idpFields)));

/** Strict, since an ignored member would change who the hub logs in as. Cursor writes two of them in upper case. */
export const authEntry = z.union(
  [
    z.boolean(),
    z.string(),
    z.strictObject({
      ...bothSpellings(fieldsWith(z.strictObject(bothSpellings(idpFields)))),
      CLIENT_ID: z.optional(line("auth.CLIENT_ID")),
      CLIENT_SECRET: z.optional(secretEntry),
    }),
  ],
  { error: "auth must be an object, or false for a server without login" },
);

export type AuthEntry = z.infer<typeof authEntry>;
export type AuthFields = z.infer<typeof authFields>;
export type SecretEntry = z.infer<typeof secretEntry>;
