import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser';

/** What a ceremony ended with; `problem` is a sentence for the person, absent when the page itself gave the ceremony up. */
export type Ceremony<Credential> = { credential: Credential } | { problem?: string };

/** What the server asks a passkey to sign. */
export type PasskeyRequest = { options: PublicKeyCredentialRequestOptionsJSON; challenge: string };

/** Fetched when the first ceremony begins: most visits have none. */
const webauthn = () => import('@simplewebauthn/browser');

export const supportsPasskeys = (): boolean => typeof window !== 'undefined' && typeof window.PublicKeyCredential === 'function';

/** Asks the browser for a signature of a passkey. `autofill`: offered in the list of the e-mail field instead, for as long as the page stands. */
export const signWithPasskey = (
  optionsJSON: PublicKeyCredentialRequestOptionsJSON,
  { autofill = false } = {},
): Promise<Ceremony<AuthenticationResponseJSON>> =>
  ceremony(async () => (await webauthn()).startAuthentication({ optionsJSON, useBrowserAutofill: autofill }));

/** Has the browser make a passkey. */
export const createPasskey = (optionsJSON: PublicKeyCredentialCreationOptionsJSON): Promise<Ceremony<RegistrationResponseJSON>> =>
  ceremony(async () => (await webauthn()).startRegistration({ optionsJSON }));

/** Whether this browser offers passkeys while an e-mail address is typed. */
export const offersAutofill = async (): Promise<boolean> => supportsPasskeys() && (await webauthn()).browserSupportsWebAuthnAutofill();

/** Ends a ceremony that waits, such as the one of autofill. */
export const stopCeremony = async (): Promise<void> => (await webauthn()).WebAuthnAbortService.cancelCeremony();

async function ceremony<Credential>(run: () => Promise<Credential>): Promise<Ceremony<Credential>> {
  try {
    return { credential: await run() };
  } catch (error) {
    const problem = problemOf(error as { name?: string; code?: string });
    return problem === undefined ? {} : { problem };
  }
}

/** Browsers say the same of a closed prompt, a timeout and a device without a matching passkey, so that pages cannot tell who has one. */
function problemOf({ name, code }: { name?: string; code?: string }): string | undefined {
  if (code === 'ERROR_CEREMONY_ABORTED' || name === 'AbortError') return undefined;
  if (code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED' || name === 'InvalidStateError')
    return 'This device already has a passkey for your account.';
  if (name === 'NotAllowedError')
    return 'The passkey prompt was closed or timed out, or this device has no passkey for your account. Try again.';
  if (name === 'SecurityError') return 'Passkeys work only at the dashboard’s own address. Check the address bar.';
  if (name === 'NotSupportedError' || code === 'ERROR_AUTHENTICATOR_NO_SUPPORTED_PUBKEYCREDPARAMS_ALG')
    return 'This authenticator isn’t supported. Use another device or security key.';
  if (!supportsPasskeys()) return 'This browser doesn’t support passkeys.';
  return 'The passkey couldn’t be used. Try again.';
}
