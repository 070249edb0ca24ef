// Replaces URIs in a server's answer by those that are exposed to clients of a group. Needed only if two servers share a URI;
// changes only the URIs of links, embedded resources and contents.

import { exposedUri } from "../catalog/uris.ts";
import { editElements, editMember, type Edit } from "../protocol/rpc/json-edit.ts";
import { isObject } from "../lib/json/json.ts";
import { raw, type Raw, type Reply } from "../protocol/rpc/jsonrpc.ts";

/** The mapping is the group's `rewrittenUris(server)`. */
export function withExposedUris(reply: Reply, mapping: ReadonlyMap<string, string>): Reply {
  const edited = reply.ok ? exposingUris(mapping)(reply.result) : undefined;
  return edited === undefined ? reply : { ok: true, result: edited };
}

/** The same for a result alone. */
export function exposingUris(mapping: ReadonlyMap<string, string>): Edit {
  if (mapping.size === 0) return () => undefined;
  const toExposed: Edit = ({ value }) => {
    const exposed = typeof value === "string" ? exposedUri(value, mapping) : value;
    return exposed === value ? undefined : raw(exposed);
  };
  const ofContents: Edit = (contents) => editMember(contents, "uri", toExposed);
  const ofBlock: Edit = (block) => {
    const type = isObject(block.value) ? block.value["type"] : undefined;
    if (type === "resource_link") return ofContents(block);
    return type === "resource" ? editMember(block, "resource", ofContents) : undefined;
  };
  const ofContent: Edit = (content) =>
    Array.isArray(content.value) ? editElements(content, ofBlock) : ofBlock(content);
  const ofMessage: Edit = (message) => editMember(message, "content", ofContent);
  const edits: readonly (readonly [key: string, Edit])[] = [
    ["content", ofContent],
    ["contents", (contents) => editElements(contents, ofContents)],
    ["messages", (messages) => editElements(messages, ofMessage)],
  ];
  return (result) => {
    const edited = edits.reduce<Raw>((before, [key, edit]) => editMember(before, key, edit) ?? before, result);
    return edited === result ? undefined : edited;
  };
}
