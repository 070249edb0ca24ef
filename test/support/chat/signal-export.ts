// Invented frames of a Signal export: two people, a group, and the user.

export const ALICE = { number: "4", aci: "ERERERERQRGBEREREREREQ==", uuid: "11111111-1111-4111-8111-111111111111" };
export const BOB = { number: "5", aci: "IiIiIiIiQiKCIiIiIiIiIg==", uuid: "22222222-2222-4222-8222-222222222222" };
/** Master key of the group, and the id that libsignal derives from it. */
export const MASTER_KEY = Buffer.alloc(32, 7).toString("base64");
export const GROUP_ID = "oroE+kkkL8I7/RAkLPCJTJXWJtGEQJ2C48QynhfRFe0=";
const SENT = 1_763_200_000_000;

export const FRAMES: readonly object[] = [
  { version: "1", backupTimeMs: "1763200000000", mediaRootBackupKey: "AAAA" },
  { account: { givenName: "Me", familyName: "Myself" } },
  { recipient: { id: "1", self: {} } },
  { recipient: { id: "2", releaseNotes: {} } },
  { recipient: { id: "3", distributionList: { distributionId: "AAAAAAAAAAAAAAAAAAAAAA==" } } },
  {
    recipient: {
      id: ALICE.number,
      contact: { aci: ALICE.aci, e164: "15550000001", profileGivenName: "Alice", registered: {} },
    },
  },
  {
    recipient: {
      id: BOB.number,
      contact: { aci: BOB.aci, nickname: { given: "Bobby" }, profileGivenName: "Bob", username: "bob.01" },
    },
  },
  {
    recipient: {
      id: "6",
      group: {
        masterKey: MASTER_KEY,
        snapshot: { title: { title: "Weekend" }, members: [{ userId: ALICE.aci }, { userId: BOB.aci, role: 7 }] },
      },
    },
  },
  { chat: { id: "1", recipientId: "6" } },
  { chat: { id: "2", recipientId: ALICE.number } },
  { chat: { id: "3", recipientId: "1" } },
];

/** An item of the group, a number of seconds after the first. */
export function item(second: number, fields: object): object {
  return {
    chatItem: { chatId: "1", authorId: ALICE.number, dateSent: String(sentAt(second)), incoming: {}, ...fields },
  };
}

export function sentAt(second: number): number {
  return SENT + second * 1000;
}

export function standard(body: string, fields: object = {}): object {
  return { standardMessage: { text: { body }, ...fields } };
}

export function jsonLines(frames: readonly object[]): string {
  return frames.map((frame) => `${JSON.stringify(frame)}\n`).join("");
}
