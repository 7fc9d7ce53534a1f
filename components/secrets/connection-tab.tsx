'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { parseAsString, useQueryState } from 'nuqs';
import { useState } from 'react';
import type { z } from 'zod';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { SecretDetail } from '#server/domain/secrets/schema.ts';
import { ConnectionStatus, connectionProblem, consentResult } from './connection-status.tsx';

type Detail = z.output<typeof SecretDetail>;
type Environment = Detail['environments'][number];

/** A connection: whether it works, what it may, and the way back when it doesn't. */
export function SecretConnection({ secret }: { secret: Detail }) {
  const [result, setResult] = useQueryState('connected', parseAsString);
  const told = result === null ? undefined : consentResult(result);
  if (!secret.oauth2) return null;
  const { provider, grant_type, client_id, scopes, redirect_uri, auth_url, token_url, mtls_certificate_id } = secret.oauth2;
  return (
    <div className="flex flex-col gap-4">
      {told && (
        <Callout
          tone={told.tone}
          title={told.title}
          actions={
            <Button size="sm" onClick={() => void setResult(null)}>
              Dismiss
            </Button>
          }
        >
          {told.text}
        </Callout>
      )}
      {secret.environments.map((environment) => (
        <EnvironmentConnection
          key={environment.environment_name}
          secret={secret}
          environment={environment}
          interactive={redirect_uri !== null}
        />
      ))}
      <SectionCard title="Settings" description="What the connection asks the provider for.">
        <KeyValueList
          items={[
            { label: 'Provider', value: provider },
            { label: 'Grant', value: grant_type.replaceAll('_', ' ') },
            { label: 'Client ID', value: client_id, copy: client_id },
            { label: 'Scopes', value: scopes.length > 0 ? scopes.join(' ') : 'None' },
            ...(redirect_uri ? [{ label: 'Redirect URI', value: redirect_uri, copy: redirect_uri }] : []),
            ...(auth_url ? [{ label: 'Authorization URL', value: auth_url }] : []),
            ...(token_url ? [{ label: 'Token URL', value: token_url }] : []),
            ...(mtls_certificate_id ? [{ label: 'Client certificate', value: mtls_certificate_id, copy: mtls_certificate_id }] : []),
          ]}
        />
      </SectionCard>
    </div>
  );
}

type Props = { secret: Detail; environment: Environment; interactive: boolean };

function EnvironmentConnection({ secret, environment, interactive }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const label = useEnvironmentLabel();
  const readOnly = useForbidden('secret:update');
  const [asking, setAsking] = useState(false);
  const { environment_name, connection_status: status } = environment;
  const ref = { id: secret.id, environment: environment_name };
  const refresh = () => void queryClient.invalidateQueries(trpc.secrets.pathFilter());
  const reconnect = useMutation(
    trpc.secrets.reconnect.mutationOptions({
      onSuccess: ({ authorization_url }) => {
        // The provider's own page: the person comes back to this one.
        if (authorization_url !== null) return window.location.assign(authorization_url);
        refresh();
        notifyDone('Connected');
      },
    }),
  );
  const disconnect = useMutation(
    trpc.secrets.disconnect.mutationOptions({
      onSuccess: () => {
        refresh();
        setAsking(false);
        notifyDone('Disconnected');
      },
    }),
  );
  const problem = connectionProblem(status, environment.connection_error);
  const connected = status === 'connected';
  const verb = interactive && (status === 'pending' || status === 'disconnected') ? 'Authorize' : 'Reconnect';
  const name = label(environment_name);
  return (
    <SectionCard
      title={`Connection in ${name}`}
      actions={
        <div className="flex flex-wrap gap-2">
          {status !== 'disconnected' && status !== 'pending' && (
            <Button disabledReason={readOnly} onClick={() => setAsking(true)}>
              Disconnect
            </Button>
          )}
          <Button
            variant={connected ? 'secondary' : 'primary'}
            disabledReason={readOnly}
            loading={reconnect.isPending || (reconnect.isSuccess && interactive)}
            onClick={() => reconnect.mutate(ref)}
          >
            {verb}
          </Button>
        </div>
      }
    >
      <div className="flex flex-col gap-3">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <ConnectionStatus status={status} />
          {connected && (
            <span className="text-ink-3 text-xs">
              {environment.token_expires_at ? (
                <>
                  Token ends <Time value={environment.token_expires_at} />. It is refreshed before.
                </>
              ) : (
                'The token has no known end.'
              )}
            </span>
          )}
        </div>
        {problem && (
          <Callout tone={problem.tone} title={problem.title}>
            {problem.text}
          </Callout>
        )}
        <MutationError error={reconnect.error} />
      </div>
      <ConfirmDanger
        open={asking}
        onOpenChange={setAsking}
        title={`Disconnect ${secret.name} in ${name}?`}
        consequences={[
          'The tokens are deleted here. The provider keeps its grant until you revoke it there.',
          'Calls that need this secret are refused until you connect it again.',
        ]}
        confirmLabel="Disconnect"
        space={space}
        busy={disconnect.isPending}
        error={disconnect.error ? refusalOf(disconnect.error) : undefined}
        onConfirm={() => disconnect.mutate(ref)}
      />
    </SectionCard>
  );
}
