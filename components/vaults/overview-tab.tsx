'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split } from '#components/ui/layout.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Stat } from '#components/ui/stat.tsx';
import { Time } from '#components/ui/time.tsx';
import { FORMATS_ABOUT } from '#server/domain/vaults/formats.shared.ts';
import { CUSTODY, type Detail, lifetime, nameInPath } from './vault-labels.ts';

/** The figures and settings of a vault, and a place to tokenize one value. */
export function VaultOverview({ vault }: { vault: Detail }) {
  const about = FORMATS_ABOUT[vault.token_format];
  return (
    <Split
      side={
        <SectionCard title="Details">
          <KeyValueList
            items={[
              { label: 'Format', value: about.label, hint: `Keeps: ${about.kept.toLowerCase()}` },
              ...(vault.alphabet === null ? [] : [{ label: 'Alphabet', value: vault.alphabet }]),
              { label: 'Custody', value: CUSTODY[vault.custody_mode].title, hint: CUSTODY[vault.custody_mode].description },
              { label: 'Tokens expire', value: lifetime(vault.default_ttl_seconds) },
              { label: 'One token per value', value: vault.dedupe ? 'Yes' : 'No' },
              { label: 'Hosts', value: vault.allowed_hosts?.join(', ') ?? 'Any', hint: 'Where the proxy may send values.' },
              { label: 'Key version', value: vault.key_version },
              ...(Object.keys(vault.metadata_jsonb).length === 0
                ? []
                : [{ label: 'Metadata', value: JSON.stringify(vault.metadata_jsonb) }]),
              { label: 'Created', value: <Time value={vault.created_at} format="datetime" /> },
            ]}
          />
        </SectionCard>
      }
    >
      {!vault.enabled && (
        <Callout tone="warn" title="This vault is disabled">
          It neither tokenizes nor detokenizes. Enable it on the Settings tab.
        </Callout>
      )}
      <div className="grid gap-3 sm:grid-cols-3">
        <Stat label="Tokens" value={grouped(vault.stats.token_count)} />
        <Stat label="Active" value={grouped(vault.stats.active_count)} />
        <Stat label="Expiring in 24 hours" value={grouped(vault.stats.expiring_in_24h)} />
      </div>
      <TokenizeOne key={vault.id} vault={vault} />
    </Split>
  );
}

/** One value in, one token out. The value leaves the page when it is sent. */
function TokenizeOne({ vault }: { vault: Detail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('vault:tokenize');
  const [value, setValue] = useState('');
  const tokenize = useMutation(
    trpc.vaults.tokenize.mutationOptions({
      gcTime: 0,
      onSuccess: () => {
        setValue('');
        return queryClient.invalidateQueries(trpc.vaults.get.queryFilter({ vault: vault.id }));
      },
    }),
  );
  const failed = tokenize.error ? refusalOf(tokenize.error) : undefined;
  const disabled = forbidden ?? (vault.enabled ? undefined : 'The vault is disabled');
  return (
    <SectionCard title="Tokenize a value" description="Keeps the value in this vault and shows the token to store instead.">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (!disabled && value !== '') tokenize.mutate({ vault: vault.id, value });
        }}
      >
        <Field label="Value" error={failed?.message}>
          <Input
            mono
            autoComplete="off"
            spellCheck={false}
            placeholder={FORMATS_ABOUT[vault.token_format].example.value}
            value={value}
            onChange={(event) => {
              setValue(event.target.value);
              tokenize.reset();
            }}
          />
        </Field>
        <div className="flex flex-wrap items-center gap-3">
          <Button
            type="submit"
            variant="primary"
            loading={tokenize.isPending}
            disabledReason={disabled ?? (value === '' ? 'Enter a value first' : undefined)}
          >
            Tokenize
          </Button>
          <span role="status" className="min-w-0 break-all font-mono text-xs">
            {tokenize.data && <CopyText value={tokenize.data.token} label="Token" />}
          </span>
        </div>
        <ApiEquivalent
          method="POST"
          path={`/vaults/${nameInPath(vault)}/tokens`}
          body={{ value: FORMATS_ABOUT[vault.token_format].example.value }}
        />
      </form>
    </SectionCard>
  );
}
