import { SshKeyRefused, sshPrivateKey } from '#server/crypto/ssh-private-key.ts';

/** What is wrong with a key, or undefined: how often its passphrase is hashed is the sender's choice. */
export function run({ text, passphrase }: { text: string; passphrase: string | undefined }): string | undefined {
  try {
    sshPrivateKey(text, passphrase);
    return undefined;
  } catch (error) {
    if (error instanceof SshKeyRefused) return error.message;
    throw error;
  }
}
