'use client';

import { useMutation } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useTRPCClient } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Progress } from '#components/ui/progress.tsx';
import { Time } from '#components/ui/time.tsx';
import { FAILURES } from './chain-failures.ts';
import { type Verdict, verifyInParts } from './verify-in-parts.ts';

/** Verifies the whole chain, tells how far it is, and ends in a plain verdict. */
export function VerifyCard({ last }: { last: number }) {
  const client = useTRPCClient();
  const [checked, setChecked] = useState(0);
  const stopped = useRef(false);
  const verify = useMutation({
    mutationFn: async () => {
      stopped.current = false;
      setChecked(0);
      const verdict = await verifyInParts({
        last,
        ask: (range) => client.auditLogs.verifyCritical.mutate(range),
        onProgress: setChecked,
        stopped: () => stopped.current,
      });
      return verdict && { verdict, at: new Date().toISOString() };
    },
  });
  useEffect(
    () => () => {
      stopped.current = true;
    },
    [],
  );
  return (
    <SectionCard
      title="Verify"
      description="Recomputes every hash and link, and checks the sealed end of the chain and the signed checkpoints."
      footer={
        verify.isPending ? (
          <Button
            onClick={() => {
              stopped.current = true;
            }}
          >
            Stop
          </Button>
        ) : (
          <Button variant="primary" icon={<ShieldCheck />} onClick={() => verify.mutate()}>
            {verify.data ? 'Verify again' : 'Verify now'}
          </Button>
        )
      }
    >
      <div aria-live="polite">
        {verify.isPending ? (
          <Verified checked={checked} of={Math.max(last, checked)} />
        ) : verify.error ? (
          <MutationError error={verify.error} />
        ) : verify.data ? (
          <div className="flex flex-col gap-2">
            <Told verdict={verify.data.verdict} />
            <p className="text-ink-3 text-xs">
              Verified <Time value={verify.data.at} />.
            </p>
          </div>
        ) : (
          <p className="text-ink-3">{verify.isSuccess ? `Stopped after ${grouped(checked)} entries.` : 'Not verified yet.'}</p>
        )}
      </div>
    </SectionCard>
  );
}

function Verified({ checked, of }: { checked: number; of: number }) {
  const text = `${grouped(checked)} of ${grouped(of)} entries`;
  return (
    <div className="flex flex-col gap-1.5">
      <Progress label="Verifying the chain" done={checked} of={of} text={text} />
      <span className="figures text-ink-2 text-xs">{text}</span>
    </div>
  );
}

function Told({ verdict }: { verdict: Verdict }) {
  const count = grouped(verdict.checked);
  if (verdict.checked === 0 && verdict.valid) return <Callout title="Nothing to verify yet" />;
  if (verdict.valid)
    return (
      <Callout tone="good" title={verdict.checked === 1 ? '1 entry is intact' : `All ${count} entries are intact`}>
        Entries {verdict.first} to {verdict.last}.
        {verdict.baseline?.action === 'audit_chain.accept' &&
          ` The operator accepted the entries before ${verdict.baseline.sequence_number} as they are${verdict.baseline.reason ? `: ${verdict.baseline.reason}` : ''}.`}
      </Callout>
    );
  return (
    <Callout tone="bad" title={`The chain is broken${verdict.failure ? ` at entry ${verdict.failure.sequence_number}` : ''}`}>
      {verdict.failure
        ? `${count} entries were checked before it. ${FAILURES[verdict.failure.kind]}`
        : 'A signed checkpoint doesn’t match.'}{' '}
      Download the chain and contact the operator of this installation.
    </Callout>
  );
}
