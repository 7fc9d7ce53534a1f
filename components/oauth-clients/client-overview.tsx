'use client';

import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split, textLink } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyPart, whenOpen } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { Time } from '#components/ui/time.tsx';
import { isInteractive } from '#server/domain/oauth-clients/grants.shared.ts';
import { PERSON_FORBIDDEN_SCOPES, SCOPE_CATALOGUE } from '#server/domain/oauth-clients/scopes.shared.ts';
import { type Detail, grantName, originOf, TYPES } from './client-labels.ts';

const UsageCard = lazyPart(() => import('./usage-card.tsx').then((module) => module.UsageCard));
const RedirectTester = lazyPart(() => import('./redirect-tester.tsx').then((module) => module.RedirectTester));
const RotateDialog = lazyOverlay(() => import('./client-dialogs.tsx').then((module) => module.RotateDialog), whenOpen);
const RevokeDialog = lazyOverlay(() => import('./client-dialogs.tsx').then((module) => module.RevokeDialog), whenOpen);

/** The details of one client, how it gets a token, and what ends it. */
export function ClientOverview({ client }: { client: Detail }) {
  const path = usePath();
  const { slug } = useScope();
  const [asking, setAsking] = useState<'rotate' | 'revoke'>();
  const readOnly = useForbidden('oauth_client:rotate');
  const origin = originOf(client);
  const own = !client.source_api_key_id && !client.system_role;
  const close = () => setAsking(undefined);
  return (
    <Split
      side={
        <>
          <SectionCard title="Details">
            <KeyValueList
              items={[
                { label: 'Client ID', value: client.client_id, copy: client.client_id },
                { label: 'Type', value: TYPES[client.type] },
                { label: 'Grants', value: client.grant_types.map(grantName).join(', ') },
                ...(client.secret_created_at
                  ? [
                      {
                        label: 'Secret',
                        value: <Time value={client.secret_created_at} />,
                        hint: client.previous_secret_expires_at ? (
                          <>
                            The previous one works until <Time value={client.previous_secret_expires_at} format="datetime" />
                          </>
                        ) : (
                          'It isn’t stored and can’t be shown again.'
                        ),
                      },
                    ]
                  : []),
                { label: 'DPoP', value: client.require_dpop ? 'Required' : 'Optional' },
                { label: 'Last used', value: <Time value={client.last_used_at} empty="Never" /> },
                {
                  label: 'Created',
                  value: <Time value={client.created_at} format="datetime" />,
                  ...(client.created_by ? { hint: `by ${client.created_by.label}` } : {}),
                },
                ...(client.revoked_at ? [{ label: 'Revoked', value: <Time value={client.revoked_at} format="datetime" /> }] : []),
              ]}
            />
          </SectionCard>
          {client.redirect_uris.length > 0 && (
            <SectionCard title="Redirect URIs">
              <ul className="mb-3 flex flex-col gap-1">
                {client.redirect_uris.map((uri) => (
                  <li key={uri} className="min-w-0 font-mono text-xs">
                    <CopyText value={uri} label="redirect URI" />
                  </li>
                ))}
              </ul>
              <RedirectTester client={client} />
            </SectionCard>
          )}
        </>
      }
    >
      {origin?.why && (
        <Callout
          title={origin.why}
          actions={
            client.source_api_key_id ? (
              <Link className={textLink} href={path(`/api-keys?peek=${client.source_api_key_id}`)}>
                Open the API key
              </Link>
            ) : (
              <Link className={textLink} href={`/${slug}/settings/workspace`}>
                Workspace settings
              </Link>
            )
          }
        />
      )}
      {client.revoked_at === null && <UsageCard client={client} />}
      <ScopesCard client={client} />
      {own && client.revoked_at === null && (
        <SectionCard title="Danger zone" tone="danger">
          <div className="flex flex-col divide-y divide-line">
            {client.type === 'confidential' && (
              <DangerRow title="Rotate the secret" text="Creates a new secret. The old one stops now, or after the time you choose.">
                <Button icon={<KeyRound />} disabledReason={readOnly} onClick={() => setAsking('rotate')}>
                  Rotate secret
                </Button>
              </DangerRow>
            )}
            <DangerRow title="Revoke the client" text="Ends its secret, its tokens and all grants for good.">
              <Button variant="danger-quiet" disabledReason={readOnly} onClick={() => setAsking('revoke')}>
                Revoke client
              </Button>
            </DangerRow>
          </div>
        </SectionCard>
      )}
      <RotateDialog client={client} open={asking === 'rotate'} onClose={close} />
      <RevokeDialog client={client} open={asking === 'revoke'} onClose={close} />
    </Split>
  );
}

function ScopesCard({ client }: { client: Detail }) {
  const people = isInteractive(client.grant_types);
  return (
    <SectionCard
      title="Allowed scopes"
      description={client.allowed_scopes.length === 0 ? undefined : 'The most that a token of this client can do.'}
    >
      {client.allowed_scopes.length === 0 ? (
        <Callout tone="warn" title="No scopes">
          Tokens of this client are refused everywhere. Edit the client to allow some.
        </Callout>
      ) : (
        <ul className="flex flex-col">
          {client.allowed_scopes.map((scope) => (
            <li
              key={scope}
              className="flex min-h-9 flex-wrap items-center justify-between gap-x-3 gap-y-1 border-line border-t py-1.5 first:border-t-0"
            >
              <span className="min-w-0">
                {SCOPE_CATALOGUE[scope]?.title ?? scope} <span className="font-mono text-ink-3 text-xs">{scope}</span>
              </span>
              <span className="flex gap-1.5">
                {client.step_up_scopes.includes(scope) && <Badge tone="accent">Second factor</Badge>}
                {people && PERSON_FORBIDDEN_SCOPES.includes(scope) && <Badge>Never for people</Badge>}
                {SCOPE_CATALOGUE[scope]?.risk === 'high' && <Badge tone="bad">High risk</Badge>}
              </span>
            </li>
          ))}
        </ul>
      )}
    </SectionCard>
  );
}
