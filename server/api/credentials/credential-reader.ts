import { type Credential, classifyCredential } from '#server/crypto/tokens.ts';

/**
 * Turns one kind of credential into its caller. A plane lists the readers that it accepts, and says itself how a request presents a credential and how
 * an unknown one is refused: a new kind is one file in this folder and one line in each of those lists. Readers load no Prisma, so that the gateway
 * process can use them.
 */
export type CredentialReader<Caller, Facts> = {
  kinds: readonly Credential['kind'][];
  /** The caller, or null for a credential that is unknown, revoked or expired. @throws Refusal for one that is real and may not be used here */
  read: (text: string, facts: Facts) => Promise<Caller | null>;
};

/** The caller whom a presented credential stands for; null when no reader accepts its kind, or the one that does doesn't know it. */
export async function readCredential<Caller, Facts>(
  readers: readonly CredentialReader<Caller, Facts>[],
  text: string,
  facts: Facts,
): Promise<Caller | null> {
  const { kind } = classifyCredential(text);
  const reader = readers.find(({ kinds }) => kinds.includes(kind));
  return reader ? reader.read(text, facts) : null;
}
