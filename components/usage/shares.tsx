'use client';

import { type ReactNode, useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped, shareOf } from '#components/ui/numbers.ts';

export type Share = { id: string | null; name: string | null; calls: number; errors: number; counted: number };

const FEW = 8;

type Props = {
  shares: readonly Share[];
  total: { calls: number; errors: number; counted: number };
  noun: string;
  none: string;
  hrefOf: (id: string) => string;
};

/** Who took how much of the month: the largest first, and what belongs to none of them last, so that the column adds up. */
export function Shares({ shares, total, noun, none, hrefOf }: Props) {
  const [all, setAll] = useState(false);
  const listed = all ? shares : shares.slice(0, FEW);
  const rest = (of: 'calls' | 'errors' | 'counted') => total[of] - listed.reduce((sum, share) => sum + share[of], 0);
  const other = { calls: rest('calls'), errors: rest('errors'), counted: rest('counted') };
  const hidden = shares.length - listed.length;
  return (
    <div className="flex flex-col gap-2">
      <table className="w-full text-left">
        <caption className="sr-only">Calls this month by {noun}</caption>
        <thead className="text-ink-3 text-xs">
          <tr>
            <th scope="col" className="pb-1 font-medium first-letter:uppercase">
              {noun}
            </th>
            <th scope="col" className="pb-1 text-right font-medium">
              Counted
            </th>
            <th scope="col" className="w-20 pb-1 text-right font-medium">
              Share
            </th>
            <th scope="col" className="pb-1 text-right font-medium max-sm:hidden">
              All calls
            </th>
            <th scope="col" className="pb-1 text-right font-medium max-sm:hidden">
              Failed
            </th>
          </tr>
        </thead>
        <tbody className="figures">
          {listed.map((share) => (
            <Row key={share.id ?? 'none'} share={share} total={total.counted}>
              {share.id ? (
                <Link href={hrefOf(share.id)} className={textLink}>
                  {share.name ?? `Deleted (${share.id.slice(0, 8)})`}
                </Link>
              ) : (
                <span className="text-ink-2">No route found</span>
              )}
            </Row>
          ))}
          {other.calls > 0 && (
            <Row share={other} total={total.counted}>
              <span className="text-ink-2">{hidden > 0 ? `${grouped(hidden)} more${none ? `, and ${none}` : ''}` : capitalize(none)}</span>
            </Row>
          )}
        </tbody>
        <tfoot className="figures font-medium">
          <Row share={total} total={total.counted}>
            Total
          </Row>
        </tfoot>
      </table>
      {shares.length > FEW && (
        <Button size="sm" className="self-start" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show ${shares.length === 100 ? 'top 100' : `all ${shares.length.toString()}`}`}
        </Button>
      )}
    </div>
  );
}

function Row({ share, total, children }: { share: Omit<Share, 'id' | 'name'>; total: number; children: ReactNode }) {
  return (
    <tr className="border-line border-t">
      <th scope="row" className="max-w-0 truncate py-1.5 pr-3 font-normal">
        {children}
      </th>
      <td className="py-1.5 text-right">{grouped(share.counted)}</td>
      <td className="py-1.5 text-right text-ink-2">{shareOf(share.counted, total)}</td>
      <td className="py-1.5 text-right text-ink-2 max-sm:hidden">{grouped(share.calls)}</td>
      <td className="py-1.5 text-right text-ink-2 max-sm:hidden">{grouped(share.errors)}</td>
    </tr>
  );
}
