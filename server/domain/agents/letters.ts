import type { Letter } from '#server/domain/mail/service.ts';
import { named } from '#server/domain/mail/templates.ts';

export type AboutAgent = { workspace: string; space: string; name: string; agent_id: string; url: string };
const place = ({ workspace, space }: AboutAgent) => `${named(workspace)} (${space})`;
const agent = ({ name, agent_id }: AboutAgent) => `${named(name, 'the agent', 'the agent')} (${agent_id})`;
const button = ({ url }: AboutAgent) => ({ label: 'View the agent', url });
const from = (ip: string | null) => (ip === null ? '' : ` from ${ip}`);

/** To Owners: somebody made a credential with which a program joins the workspace. */
export const agentMinted = (
  about: AboutAgent,
  { by, ip, at, mode }: { by: string; ip: string | null; at: Date; mode: string },
): Letter => ({
  subject: `A new on-host agent in ${about.workspace}`,
  paragraphs: [
    `${by} created ${agent(about)} in ${place(about)}${from(ip)} on ${at.toUTCString()}. Its mode is ${mode}.`,
    'If this was not intended, revoke the agent, then the credential that created it.',
  ],
  button: button(about),
});

/** To Owners: an install token was used. */
export const agentInstalled = (about: AboutAgent, { hostname, ip, at }: { hostname: string; ip: string | null; at: Date }): Letter => ({
  subject: `The agent ${about.name} was installed`,
  paragraphs: [
    `An install token of ${agent(about)} in ${place(about)} was used on ${named(hostname, 'a host', 'the host')}${from(ip)} on ${at.toUTCString()}.`,
    'If you don’t know this host, revoke the agent.',
  ],
  button: button(about),
});

/** To Owners: another machine presented this agent's secret. */
export const fingerprintMismatch = (about: AboutAgent, { ip, at }: { ip: string | null; at: Date }): Letter => ({
  subject: `Another machine used the secret of the agent ${about.name}`,
  paragraphs: [
    `On ${at.toUTCString()} a machine that is not the one of ${agent(about)} in ${place(about)} asked for a session${from(ip)}. It was refused.`,
    'If the host was rebuilt, reset the fingerprint of the agent. Otherwise its secret may have been copied: rotate it.',
  ],
  button: button(about),
});

/** To Owners: a build that is not ours, where only known ones are allowed. */
export const buildRefused = (about: AboutAgent, { version, ip, at }: { version: string; ip: string | null; at: Date }): Letter => ({
  subject: `The agent ${about.name} runs an unknown build`,
  paragraphs: [
    `On ${at.toUTCString()} ${agent(about)} in ${place(about)} asked for a session${from(ip)} with a build that is not known (${named(version, 'of an unknown version', 'version')}). It was refused.`,
    'Install the agent again from the dashboard. If nobody changed it, treat the host as compromised.',
  ],
  button: button(about),
});
