import { ShieldCheck, TriangleAlert } from 'lucide-react';
import { Badge } from '#components/ui/badge.tsx';
import type { ScopeView } from '#server/domain/oauth-grants/view.shared.ts';
import { groupsOf } from './scope-groups.ts';

/** Scopes in words, by what they are about; what changes things or comes near secrets stands out (interface rule 21 §7). */
export function ScopeList({ scopes, label }: { scopes: readonly ScopeView[]; label: string }) {
  return (
    <ul aria-label={label} className="divide-y divide-line rounded-lg border border-line-strong bg-surface">
      {groupsOf(scopes).map(({ family, scopes: own }) => (
        <li key={family} className="px-4 py-3">
          <ul className="flex flex-col gap-2.5">
            {own.map((scope) => (
              <ScopeLine key={scope.name} {...scope} />
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function ScopeLine({ title, sentence, sensitive, second_factor, confirmed }: ScopeView) {
  return (
    <li className="flex items-start gap-2.5">
      {sensitive ? (
        <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warn-ink" />
      ) : (
        <span aria-hidden className="mx-1.25 mt-2 size-1.5 shrink-0 rounded-full bg-line-control" />
      )}
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="font-medium">{title}</span>
          {sensitive && <Badge tone="warn">Sensitive</Badge>}
          {second_factor ? (
            <Badge tone="note" icon={<ShieldCheck />}>
              Second factor
            </Badge>
          ) : (
            confirmed && (
              <Badge
                tone="note"
                icon={<ShieldCheck />}
                title="Some of these actions need a login that you confirm with your second factor."
              >
                Partly with second factor
              </Badge>
            )
          )}
        </p>
        <p className="text-ink-2 text-sm">{sentence}</p>
      </div>
    </li>
  );
}
