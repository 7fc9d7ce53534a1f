'use client';

import { useScope } from '#components/trpc/provider.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { MEMBER_ROLES } from '#server/domain/roles/matrix.shared.ts';
import { ROLE_TEXTS } from '#server/domain/team/rank.shared.ts';

/** What each role is for, and the way to the whole matrix. */
export function RoleExplainer() {
  const { slug } = useScope();
  return (
    <div className="flex flex-col gap-3">
      <dl className="grid gap-x-4 gap-y-1.5 sm:grid-cols-[6rem_minmax(0,1fr)]">
        {MEMBER_ROLES.map((role) => (
          <div key={role} className="contents">
            <dt className="font-medium">{capitalize(role)}</dt>
            <dd className="text-ink-2 max-sm:mb-1.5">{ROLE_TEXTS[role]}</dd>
          </div>
        ))}
      </dl>
      <p className="text-ink-3">
        Editors can also be allowed to reveal secret values.{' '}
        <Link className={textLink} href={`/${slug}/settings/roles`}>
          Compare all permissions
        </Link>
      </p>
    </div>
  );
}
