// Size limits of a config. Text is counted in code points; every limit is the largest allowed value.

/** Limits of requirement CF-7. */
export const NAME_MAX = 64;
export const DESCRIPTION_MAX = 1024;
export const ARGS_MAX = 50;
export const ARG_MAX = 512;
export const ENV_VARS_MAX = 50;
export const ENV_VALUE_MAX = 4096;
export const TOOL_NAME_MAX = 128;

/** Limits of all other fields, far above the size of ordinary configs. */
export const COMMAND_MAX = 1024;
export const PATH_MAX = 4096;
export const URL_MAX = 4096;
export const HEADERS_MAX = 50;
export const HEADER_VALUE_MAX = 4096;
export const ENV_NAME_MAX = 256;
export const SECRET_NAME_MAX = 256;
export const AUTH_SECRET_MAX = 16_384;
export const SCOPE_MAX = 512;
export const SCOPES_MAX = 200;
export const PORT_MAX = 65_535;
export const GROUP_ENTRIES_MAX = 1000;
export const TOOL_DESCRIPTION_MAX = 8192;
export const TOOL_ARGUMENTS_MAX = 100;
export const WORKFLOW_ID_MAX = 256;
export const TIMEOUT_MAX_MS = 86_400_000;

/** Limits of a whole file. */
export const FILE_MAX_BYTES = 4 * 1024 * 1024;
export const DEPTH_MAX = 64;
