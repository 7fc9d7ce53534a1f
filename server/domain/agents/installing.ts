import type { z } from 'zod';
import { mintToken } from '#server/crypto/tokens.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { wholeList } from '#server/kernel/page.ts';
import { env } from '#server/platform/env.ts';
import type { AgentMode } from './modes.shared.ts';
import type { CreateInstallToken, InstallTokenRef } from './schema.ts';
import { agentById, lockedAgent, personOf } from './store.ts';

const MINUTE = 60_000;
const SHOWN = 50;

/** A token that one host enrols with. Only its digest is kept. @throws Refusal not_found */
export function createInstallToken(ctx: Ctx, { id, ttl_minutes }: z.output<typeof CreateInstallToken>) {
  const { token, digest } = mintToken('agent_install');
  const expires_at = new Date(ctx.now.getTime() + ttl_minutes * MINUTE);
  return mutate(ctx, async (tx) => {
    const agent = await lockedAgent(tx, ctx, id);
    const row = await tx.agent_install_tokens.create({
      data: {
        ...own(ctx),
        id: newId(),
        agent_id: agent.id,
        token_digest: new Uint8Array(digest),
        prefix: token.slice(0, 12),
        mode: agent.mode,
        created_by: personOf(ctx),
        expires_at,
        created_at: ctx.now,
      },
    });
    const install = snippetsOf(ctx);
    return audited(
      { id: row.id, token, expires_at, command: install.shell, install },
      {
        action: 'create',
        resource_type: 'agent_install_token',
        resource_id: row.id,
        name: agent.name,
        details: { agent_id: agent.id, mode: agent.mode, expires_at: expires_at.toISOString() },
      },
    );
  });
}

/** The newest 50, without the tokens. @throws Refusal not_found */
export const installTokens = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const agent = await agentById(tx, ctx, id);
    const rows = await tx.agent_install_tokens.findMany({
      where: { ...own(ctx), agent_id: agent.id },
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
      take: SHOWN,
    });
    return wholeList(rows.map((row) => ({ ...row, mode: row.mode as AgentMode })));
  });

/** Repeated, it answers the same. @throws Refusal not_found */
export function revokeInstallToken(ctx: Ctx, { id, tokenId }: z.output<typeof InstallTokenRef>) {
  return mutate(ctx, async (tx) => {
    const agent = await lockedAgent(tx, ctx, id);
    const row = isUuid(tokenId)
      ? await tx.agent_install_tokens.findFirst({ where: { ...own(ctx), id: tokenId.toLowerCase(), agent_id: agent.id } })
      : null;
    if (!row) throw notFound();
    const answer = { deleted: true as const };
    if (row.revoked_at) return unchanged(answer);
    await tx.agent_install_tokens.update({ where: { id: row.id, ...own(ctx) }, data: { revoked_at: ctx.now } });
    return audited(answer, { action: 'revoke', resource_type: 'agent_install_token', resource_id: row.id, name: agent.name });
  });
}

/** Commands for each platform. The token is read from the environment or asked for, so that no process list or history of a shell has it. */
export function snippetsOf(ctx: Pick<Ctx, 'sandbox'>) {
  const api = spaceOf(ctx.sandbox) === 'test' ? env.PUBLIC_SANDBOX_API_URL : env.PUBLIC_API_URL;
  const script = `${api}/agent/install.sh`;
  const run = `curl -fsSL ${script} -o install-agent.sh && sh install-agent.sh`;
  return {
    shell: run,
    systemd: `${run} --systemd`,
    compose: [
      'services:',
      '  sallyport-agent:',
      '    image: node:24-alpine',
      '    restart: unless-stopped',
      '    command: ["sh", "-c", "wget -qO /tmp/i.sh $$API/agent/install.sh && sh /tmp/i.sh --prefix /var/lib/agent --run"]',
      '    environment:',
      `      API: ${api}`,
      '    secrets: [agent_token]',
      '    volumes: ["agent:/var/lib/agent"]',
      'secrets:',
      '  agent_token: { file: ./agent-token }',
      'volumes:',
      '  agent: {}',
    ].join('\n'),
    kubernetes: [
      'apiVersion: apps/v1',
      'kind: Deployment',
      'metadata: { name: sallyport-agent }',
      'spec:',
      '  replicas: 1',
      '  strategy: { type: Recreate }',
      '  selector: { matchLabels: { app: sallyport-agent } }',
      '  template:',
      '    metadata: { labels: { app: sallyport-agent } }',
      '    spec:',
      '      containers:',
      '        - name: agent',
      '          image: node:24-alpine',
      '          command: ["sh", "-c", "wget -qO /tmp/i.sh $API/agent/install.sh && sh /tmp/i.sh --prefix /var/lib/agent --run"]',
      '          env:',
      `            - { name: API, value: "${api}" }`,
      '            - { name: SVC_INSTALL_TOKEN, valueFrom: { secretKeyRef: { name: sallyport-agent, key: token } } }',
      '          volumeMounts: [{ name: state, mountPath: /var/lib/agent }]',
      '      volumes: [{ name: state, persistentVolumeClaim: { claimName: sallyport-agent } }]',
    ].join('\n'),
  };
}
