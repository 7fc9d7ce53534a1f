import { SshKeyRefused, sshPrivateKey } from '#server/crypto/ssh-private-key.ts';
import { invalid } from '#server/kernel/errors.ts';

/** Parses the key with its passphrase: Ed25519, ECDSA or RSA of 2,048 bits or more. @throws Refusal validation_error */
export function assertSshKey(text: string, passphrase: string | undefined): void {
  try {
    sshPrivateKey(text, passphrase);
  } catch (error) {
    if (error instanceof SshKeyRefused) throw invalid('ssh_private_key', error.message);
    throw error;
  }
}
