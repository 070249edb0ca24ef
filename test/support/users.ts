// People who have signed in to a hub, without an identity provider: written to its database, as another process of the hub would.

import { join } from "node:path";
import { Users, type SignIn, type User } from "../../hub/src/auth/users.ts";
import { IdentityFile } from "../../hub/src/identity/identity-file.ts";
import { SqliteUsers } from "../../hub/src/identity/sqlite-users.ts";

export async function signIn(home: { readonly dir: string }, ...people: readonly Partial<SignIn>[]): Promise<User[]> {
  const file = await IdentityFile.open(join(home.dir, "data/identity.db"));
  const users = new Users({
    hasStore: () => true,
    openStore: () => Promise.resolve(new SqliteUsers(file)),
    onWarning: (message) => {
      throw new Error(message);
    },
  });
  const signedIn: User[] = [];
  for (const person of people) {
    const subject = person.subject ?? person.email ?? "";
    signedIn.push(await users.signedIn({ issuer: "https://idp.test", emailVerified: true, ...person, subject }));
  }
  users.close();
  await file.close();
  return signedIn;
}
