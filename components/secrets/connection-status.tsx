import { Status } from '#components/ui/badge.tsx';
import type { CalloutProps } from '#components/ui/callout.tsx';

type Told = { tone: NonNullable<CalloutProps['tone']>; title: string; text: string };

const STATES = {
  pending: ['pending', 'Not authorized yet'],
  connected: ['ok', 'Connected'],
  error: ['failing', 'Failing'],
  expired: ['expired', 'Expired'],
  disconnected: ['off', 'Disconnected'],
} as const;

/** Whether a connection works. */
export function ConnectionStatus({ status }: { status: keyof typeof STATES | null }) {
  if (status === null) return null;
  const [state, text] = STATES[status];
  return <Status state={state}>{text}</Status>;
}

/** What is wrong with a connection, and what to do about it. */
export function connectionProblem(status: keyof typeof STATES | null, code: string | null): Told | undefined {
  const because = code === null ? '' : ` Code: ${code}.`;
  switch (status) {
    case 'expired':
      return {
        tone: 'bad',
        title: 'The provider no longer accepts this connection',
        text: `Calls that need it are refused. Reconnect to bring them back.${because}`,
      };
    case 'error':
      return {
        tone: 'warn',
        title: 'No token can be obtained',
        text: `We keep trying, less and less often. If the provider is up, check the client secret and reconnect.${because}`,
      };
    case 'pending':
      return { tone: 'info', title: 'Somebody has to consent', text: 'Register the redirect URI at the provider, then authorize.' };
    default:
      return undefined;
  }
}

/** What the address says when a browser comes back from a provider. */
export const consentResult = (result: string): Told =>
  result === 'yes'
    ? { tone: 'good', title: 'Connected', text: 'Calls use the new token from now on.' }
    : {
        tone: 'bad',
        title: 'Not connected',
        text:
          result === 'forbidden'
            ? 'You may no longer change this secret. Ask an Owner or Admin.'
            : 'The provider did not exchange the consent for a token. Check the client secret and the token URL, then try again.',
      };
