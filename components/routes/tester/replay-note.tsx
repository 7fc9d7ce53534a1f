'use client';

import { usePath } from '#components/trpc/provider.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Time } from '#components/ui/time.tsx';
import type { Replay } from './replay.ts';

type Props = { replay: Replay; call: { request_id: string; ts: string } };

/** Where the form was filled in from, and what of the call is not in it because the log never had it. */
export function ReplayNote({ replay, call }: Props) {
  const path = usePath();
  const { blank, leftOut, masked, hadBody, otherMethod } = replay;
  return (
    <Callout
      title={
        <>
          Filled in from{' '}
          <Link className={textLink} href={path(`/logs?peek=${call.request_id}`)}>
            the call of <Time value={call.ts} format="datetime" />
          </Link>
          . Nothing is sent until you press Send.
        </>
      }
    >
      <ul className="list-disc pl-4">
        {otherMethod && <li>Its method, {otherMethod}, cannot be sent from here; GET stands in its place.</li>}
        {masked && (
          <li>Part of its path looked like a credential or a card number and was masked before it was stored: correct it first.</li>
        )}
        {blank.length > 0 && <li>Values of headers are not stored. Fill in those that matter; one without a value is left out.</li>}
        {leftOut.length > 0 && (
          <li>
            Left out, as they carry a credential or the route puts them in: <span className="font-mono text-xs">{leftOut.join(', ')}</span>.
          </li>
        )}
        <li>{hadBody ? 'It had a body. Bodies are not stored: write one if the upstream needs it.' : 'It had no body.'}</li>
      </ul>
    </Callout>
  );
}
