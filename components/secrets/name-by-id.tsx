'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';

type Props = { secret: { id: string }; references: readonly { by: string; id: string; name: string | null }[] };

/** The routes that name a secret by its name, and one press that lets all of them name it by id: afterwards it can be renamed freely. */
export function NameById({ secret, references }: Props) {
  const trpc = useTRPC();
  const path = usePath();
  const cache = useQueryClient();
  const readOnly = useForbidden('route:update');
  const rewrite = useMutation(
    trpc.routes.secretById.mutationOptions({
      onSuccess: async ({ routes }) => {
        notifyDone(`${counted(routes.length, 'route')} updated to reference it by ID`);
        await Promise.all([cache.invalidateQueries(trpc.secrets.usage.pathFilter()), cache.invalidateQueries(trpc.routes.pathFilter())]);
      },
    }),
  );
  const named = [...new Map(references.filter((one) => one.by === 'name').map((one) => [one.id, one.name ?? one.id]))];
  if (named.length === 0) return null;
  return (
    <div className="mt-2 flex flex-col items-start gap-2">
      <p>
        {named.slice(0, 5).map(([id, name], index) => (
          <span key={id}>
            {index > 0 && ', '}
            <Link className={textLink} href={path(`/routes/${id}`)}>
              {name}
            </Link>
          </span>
        ))}
        {named.length > 5 && ` and ${(named.length - 5).toString()} more`}
      </p>
      <Button
        size="sm"
        type="button"
        loading={rewrite.isPending}
        disabledReason={readOnly}
        onClick={() => rewrite.mutate({ id: secret.id })}
      >
        Reference by ID
      </Button>
      <MutationError error={rewrite.error} />
    </div>
  );
}
