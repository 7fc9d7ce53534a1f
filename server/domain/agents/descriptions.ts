import type { Descriptions } from '#server/kernel/descriptions.ts';

export const descriptions: Descriptions = {
  about:
    'Programs of ours on your own hosts. An agent runs commands of the dashboard, sends calls of local programs through routes without a change of their code, or serves your routes inside your network.',
  operations: {
    'agents.list': { description: 'Lists the agents of this space, revoked ones included. Not paginated.', success: 'The agents.' },
    'agents.create': {
      description:
        'Creates an agent of mode `control`. `agent_secret` is shown only in this answer: store it on the host at once. The credential needs a grant that names `agent:create`; a wildcard doesn’t count. Owners of the workspace are told by email. Other modes are created in the dashboard, where a person confirms who they are.',
      success: 'The created agent with its secret.',
    },
    'agents.delete': {
      description:
        'Revokes an agent. Its sessions, its secret and its install tokens end at once. Repeating the call answers the same. The agent stays in lists for 90 days.',
      success: 'The agent was revoked.',
    },
    'agents.tamper_events': {
      description: 'Lists what looked wrong about an agent: a build that isn’t known, or another machine with its secret. The newest 50.',
      success: 'The tamper events, newest first.',
    },
  },
  fields: {
    id: 'ID of the agent.',
    name: 'Name of the agent. Unique among agents that aren’t revoked.',
    agent_id: 'How the agent names itself in its calls: `svc_agent_` and 22 characters. Not a secret.',
    agent_secret: 'What the agent signs its calls with. Shown once; the service keeps only keys derived from it.',
    status: '`active`, or `revoked` for good.',
    mode: '`control` runs commands, `intercept` sends calls of local programs through routes, `server` and `proxy` serve routes and decrypt secrets on your machine.',
    require_verified_build: 'Whether sessions are refused to builds that aren’t known.',
    sandbox: 'Whether the agent belongs to Test.',
    version: 'Version of the agent that reported last; `null` until it had a session.',
    connectivity: '`never_connected`, `online` (heard of within 3 minutes), `stale` (15 minutes), `offline`, or `revoked`.',
    last_seen_at: 'When the agent last had a session or sent a heartbeat; `null` if never.',
    last_session_issued_at: 'When the agent last got a session; `null` if never.',
    has_tamper_events: 'Whether something looked wrong about the agent at least once.',
    'AgentTamperEvent.id': 'ID of the event.',
    kind: '`unknown_build`, `fingerprint_mismatch` (another machine), or `bad_bundle` (the agent received a bundle whose signature is wrong).',
    version_reported: 'Version that the agent reported.',
    build_sig_reported: 'Seal of the build that the agent reported.',
    src_ip: 'Address that the call came from.',
    action_taken: '`alerted`: the call went on. `refused`: it didn’t.',
    detected_at: 'When it was noticed.',
    created_at: 'When the agent was created.',
    deleted: 'Always `true`.',
    revoked: 'Always `true`.',
  },
  examples: {
    name: 'Build host',
    agent_id: 'svc_agent_9GJ2mZ0sQm3C1T7u4Yw8Kp',
    agent_secret: 'svc_as_…',
    status: 'active',
    mode: 'control',
    require_verified_build: false,
    sandbox: false,
    version: '1.0.0',
    connectivity: 'online',
    has_tamper_events: false,
    kind: 'unknown_build',
    version_reported: '1.0.0',
    build_sig_reported: null,
    src_ip: '203.0.113.9',
    action_taken: 'alerted',
  },
};
