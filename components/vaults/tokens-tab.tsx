'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useScope, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { RevealField } from '#components/ui/reveal-field.tsx';
import { Stat } from '#components/ui/stat.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type Detail, nameInPath } from './vault-labels.ts';

const PER_PAGE = 50;

/** Stands for the token's text, which isn't shown before it is revealed. */
const TOKEN = 'TOKEN';

/** The tokens of a vault: how many there are, and behind a verification which, a page at a time. */
export function TokensTab({ vault }: { vault: Detail }) {
  const { stats } = vault;
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-3">
        <Stat label="Tokens" value={grouped(stats.token_count)} />
        <Stat label="Active" value={grouped(stats.active_count)} />
        <Stat label="Expiring in 24 hours" value={grouped(stats.expiring_in_24h)} />
      </div>
      <TokenList vault={vault} />
      <OneToken key={vault.id} vault={vault} />
    </>
  );
}

/** A page of tokens as lines: nothing but the field that shows them holds them. */
function TokenList({ vault }: { vault: Detail }) {
  const client = useTRPCClient();
  const forbidden = useRevealForbidden('vault:list_tokens');
  const [page, setPage] = useState(1);
  const pages = Math.max(1, Math.ceil(vault.stats.token_count / PER_PAGE));
  return (
    <SectionCard
      title="Tokens"
      description={`Newest first, ${PER_PAGE} for each verification. Values aren’t shown.`}
      actions={
        <div className="flex items-center gap-2">
          <span className="text-ink-3 text-xs">
            Page {page} of {pages}
          </span>
          <Button size="sm" disabledReason={page > 1 ? undefined : 'This is the first page'} onClick={() => setPage(page - 1)}>
            Newer
          </Button>
          <Button size="sm" disabledReason={page < pages ? undefined : 'This is the last page'} onClick={() => setPage(page + 1)}>
            Older
          </Button>
        </div>
      }
    >
      <RevealField
        // A page that was shown goes with its number.
        key={page}
        label={`tokens, page ${page}`}
        tall
        disabledReason={forbidden ?? (vault.stats.token_count === 0 ? 'The vault has no tokens' : undefined)}
        reveal={async (reason) => {
          const { tokens, reveals_left } = await client.vaults.reveal.mutate({ vault: vault.id, page }, revealCall(reason));
          const lines = tokens.map(
            ({ token, created_at, expires_at, card_expires_on }) =>
              `${token}  created ${created_at.slice(0, 10)}  ${expires_at ? `expires ${expires_at.slice(0, 10)}` : 'never expires'}${card_expires_on ? `  card until ${card_expires_on}` : ''}`,
          );
          return { value: lines.join('\n') || 'No tokens on this page.', left: reveals_left };
        }}
      />
    </SectionCard>
  );
}

/** One token by its text: its value after a verification, or its end. */
function OneToken({ vault }: { vault: Detail }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const forbidden = useRevealForbidden('vault:detokenize');
  const cannotDelete = useForbidden('vault:delete_token');
  const [text, setText] = useState('');
  const [deleting, setDeleting] = useState(false);
  const token = text.trim();
  const missing = token === '' ? 'Enter a token first' : undefined;
  const remove = useMutation(
    trpc.vaults.deleteToken.mutationOptions({
      onSuccess: () => {
        notifyDone('Token deleted');
        setText('');
        setDeleting(false);
        return queryClient.invalidateQueries(trpc.vaults.get.queryFilter({ vault: vault.id }));
      },
    }),
  );
  return (
    <SectionCard title="One token" description="See the value behind a token, or delete it.">
      <div className="flex flex-col gap-4">
        <Field label="Token">
          <Input mono autoComplete="off" spellCheck={false} value={text} onChange={(event) => setText(event.target.value)} />
        </Field>
        <RevealField
          // What was shown of another token goes.
          key={token}
          label="value of the token"
          disabledReason={forbidden ?? (vault.enabled ? missing : 'The vault is disabled')}
          reveal={async (reason) => {
            const { value, reveals_left } = await client.vaults.revealOne.mutate({ vault: vault.id, token }, revealCall(reason));
            return { value, left: reveals_left };
          }}
        />
        {vault.token_format !== 'ff1' && (
          <div>
            <Button variant="danger-quiet" icon={<Trash2 />} disabledReason={cannotDelete ?? missing} onClick={() => setDeleting(true)}>
              Delete token
            </Button>
          </div>
        )}
      </div>
      <ConfirmDanger
        open={deleting}
        onOpenChange={(next) => {
          if (next) return;
          remove.reset();
          setDeleting(false);
        }}
        title="Delete this token?"
        consequences={[
          'Its value is erased at once and can’t be brought back.',
          `Backups keep it encrypted until they age out. ${counted(30, 'day')} pass before the text is issued again.`,
        ]}
        confirmLabel="Delete token"
        space={space}
        busy={remove.isPending}
        error={remove.error ? refusalOf(remove.error) : undefined}
        onConfirm={() => remove.mutate({ vault: vault.id, token })}
      >
        <ApiEquivalent method="DELETE" path={`/vaults/${nameInPath(vault)}/tokens/${TOKEN}`} />
      </ConfirmDanger>
    </SectionCard>
  );
}
