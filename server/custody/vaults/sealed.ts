import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { Refusal } from '#server/kernel/errors.ts';

/** An unavailable tenant key as the refusal it is; any other error as it came. */
export const sealed = (error: unknown): unknown =>
  error instanceof TenantKeyUnavailable
    ? new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", { retryAfter: 30, cause: error })
    : error;
