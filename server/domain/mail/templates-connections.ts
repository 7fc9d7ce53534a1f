import type { Letter } from './templates.ts';

/** A connection to a provider was lost. */
export function connectionLost(
  {
    workspace,
    space,
    name,
    environment,
    expired,
  }: { workspace: string; space: 'live' | 'test'; name: string; environment: string; expired: boolean },
  connectionUrl: string,
): Letter {
  return {
    subject: `${space === 'test' ? '[Test] ' : ''}The connection ${name} in ${workspace} ${expired ? 'has expired' : 'stopped working'}`,
    paragraphs: [
      `Its token in ${environment} could not be refreshed. ${expired ? 'The provider no longer accepts it, so calls that need it are refused.' : 'We keep trying, but calls that need it are refused until the provider answers.'}`,
      expired ? 'Connect it again to bring these calls back.' : 'If it does not recover, connect it again.',
    ],
    button: { label: 'View connection', url: connectionUrl },
  };
}
