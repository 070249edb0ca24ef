// What kind of file a MIME type is.

import type { AttachmentKind } from "../source.ts";

export function kindByMime(mime: string | undefined): AttachmentKind {
  const family = mime?.split("/")[0];
  return family === "image" || family === "video" || family === "audio" ? family : "file";
}
