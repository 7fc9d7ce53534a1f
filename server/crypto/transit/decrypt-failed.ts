import { Refusal } from '#server/kernel/errors.ts';

/** A caller's ciphertext doesn't open. One message for all causes: which of them it was would help only an attacker. */
export class DecryptFailed extends Refusal {
  constructor(
    message = "The ciphertext can't be decrypted with this key. Check that it's complete and that you send what it was encrypted with.",
  ) {
    super('decrypt_failed', message);
  }
}
