// How much of everything a config may hold. Text is counted in code points; every limit is the largest value allowed.

/** CF-7, as the source specifications give them. */
export const NAME_MAX = 64;
export const DESCRIPTION_MAX = 1024;
export const ARGS_MAX = 50;
export const ARG_MAX = 512;
export const ENV_VARS_MAX = 50;
export const ENV_VALUE_MAX = 4096;
export const TOOL_NAME_MAX = 128;

/** The rest is bounded too, at sizes that no honest config reaches. */
export const COMMAND_MAX = 1024;
export const PATH_MAX = 4096;
export const URL_MAX = 4096;
export const HEADERS_MAX = 50;
export const HEADER_VALUE_MAX = 4096;
export const ENV_NAME_MAX = 256;
export const SECRET_NAME_MAX = 256;
export const GROUP_ENTRIES_MAX = 1000;
export const WORKFLOW_ID_MAX = 256;
export const TIMEOUT_MAX_MS = 86_400_000;

/** Of a whole file. */
export const FILE_MAX_BYTES = 4 * 1024 * 1024;
export const DEPTH_MAX = 64;
