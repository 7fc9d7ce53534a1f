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
          Copied from{' '}
          <Link className={textLink} href={path(`/logs?peek=${call.request_id}`)}>
            the request of <Time value={call.ts} format="datetime" />
          </Link>
          . Nothing is sent until you click Send.
        </>
      }
    >
      <ul className="list-disc pl-4">
        {otherMethod && <li>{otherMethod} can’t be sent from here, so the method is GET.</li>}
        {masked && <li>Part of the path is masked because it looked like a credential or card number. Correct it first.</li>}
        {blank.length > 0 && <li>Header values aren’t stored. Enter the ones you need; empty headers aren’t sent.</li>}
        {leftOut.length > 0 && (
          <li>
            Left out because they carry credentials or the route injects them:{' '}
            <span className="font-mono text-xs">{leftOut.join(', ')}</span>.
          </li>
        )}
        <li>{hadBody ? 'The request had a body. Bodies aren’t stored, so enter one if needed.' : 'The request had no body.'}</li>
      </ul>
    </Callout>
  );
}
