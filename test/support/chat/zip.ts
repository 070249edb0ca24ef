// Creates small zip files with deflated entries.

import { crc32, deflateRawSync } from "node:zlib";

export function zipOf(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const raw = Buffer.from(content);
    const packed = deflateRawSync(raw);
    const label = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2); // names are UTF-8
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(0x5821_0000, 6);
    common.writeUInt32LE(crc32(raw), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(raw.length, 18);
    common.writeUInt16LE(label.length, 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), common, label, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\u0001\u0002"), Buffer.from([20, 0]), common, rest, label]));
    bodies.push(local);
    offset += local.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, listing, end]);
}
