'use client';

import { useMutation } from '@tanstack/react-query';
import { Download, ShieldCheck } from 'lucide-react';
import type { z } from 'zod';
import { useTRPCClient } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { saveJson } from '#components/ui/save-json.ts';
import type { LogProof } from '#server/domain/request-logs/proof.schema.ts';

type Answer = z.output<typeof LogProof>;

/** Shows that the row existed, unaltered, when its range was anchored. Asked for, never by itself: it recomputes the whole range. */
export function Proof({ requestId }: { requestId: string }) {
  const client = useTRPCClient();
  const ask = useMutation({ mutationFn: () => client.requestLogs.proof.query({ request_id: requestId }) });
  return (
    <section className="flex flex-col gap-2">
      <h3 className="font-semibold">Integrity proof</h3>
      {ask.data ? (
        <Verdict proof={ask.data} />
      ) : (
        <p className="text-ink-2">
          Log rows are anchored in the critical chain every 15 minutes; a row that was altered since no longer fits.
        </p>
      )}
      <MutationError error={ask.error} />
      <div className="flex flex-wrap gap-2">
        <Button size="sm" icon={<ShieldCheck />} loading={ask.isPending} onClick={() => ask.mutate()}>
          {ask.data ? 'Verify again' : 'Verify'}
        </Button>
        {ask.data && (
          <Button size="sm" icon={<Download />} onClick={() => saveJson(ask.data, `${requestId}-proof.json`)}>
            Download proof (JSON)
          </Button>
        )}
      </div>
    </section>
  );
}

function Verdict({ proof }: { proof: Answer }) {
  if (proof.verified)
    return (
      <Callout tone="good" title="This log entry is unchanged">
        Leaf {grouped((proof.leaf_index ?? 0) + 1)} of {grouped(proof.anchor?.leaf_count)} under entry no. {proof.anchor?.sequence_number}{' '}
        of the audit chain.
      </Callout>
    );
  const tampered =
    proof.reason === 'root_mismatch' ||
    proof.reason === 'anchor_mismatch' ||
    proof.reason === 'range_grew' ||
    proof.reason === 'row_not_in_range';
  return <Callout tone={tampered ? 'bad' : 'info'} title={proof.detail ?? 'No proof is available yet.'} />;
}
