'use client';

import { SearchX } from 'lucide-react';
import { usePathname } from 'next/navigation';
import { type ReactNode, useEffect, useRef } from 'react';
import { activeItem, hrefOf } from '#components/shell/navigation.ts';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { EmptyState, ErrorCard } from '#components/ui/empty-states.tsx';
import { withoutReason } from '#components/ui/refusal.ts';
import { useScopeIfAny } from './provider.tsx';
import { nextStepOf, refusalOf } from './refusal.ts';
import { isSignedOut, SignInButton } from './sign-in-again.tsx';

type Asked = { error: unknown; isFetching?: boolean; refetch: () => unknown };

/** Stands where the answer of a failed query would stand: cause, next step, request id, retry. */
export function QueryError({ query, what, actions }: { query: Asked; what: string; actions?: ReactNode }) {
  const refusal = refusalOf(query.error);
  const name = capitalize(what.replace(/^(?:the|this|your) /i, ''));
  // Asking again brings nothing back; and "this credential" is the API's word for a person.
  if (/(?:^|_)not_found$/.test(refusal.code))
    return (
      <EmptyState icon={<SearchX />} title={`${name} not found`} action={actions ?? <NearestPage />}>
        It may have been deleted or be in the other space. Check the URL.
      </EmptyState>
    );
  // Nothing broke, and asking again changes nothing.
  if (refusal.code === 'role_denied' || refusal.code === 'forbidden')
    return (
      <Callout title="Your role can’t view this" actions={actions ?? <WayOut code={refusal.code} />}>
        {refusal.message}
      </Callout>
    );
  return (
    <ErrorCard
      title={`${name} couldn’t load. ${refusal.message}`}
      next={nextStepOf(refusal.code)}
      requestId={refusal.request_id || undefined}
      onRetry={() => void query.refetch()}
      retrying={query.isFetching ?? false}
      actions={actions ?? <WayOut code={refusal.code} />}
    />
  );
}

/** A failed change that no field can show. Renders nothing without an error, and comes into sight with one: a panel's foot would hide it. */
export function MutationError({ error }: { error: unknown }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error) place.current?.scrollIntoView({ block: 'nearest' });
  }, [error]);
  if (!error) return null;
  const refusal = refusalOf(error);
  return (
    <div ref={place} className="scroll-mb-28">
      <Callout
        tone="bad"
        title={withoutField(refusal.message)}
        requestId={refusal.request_id || undefined}
        actions={<WayOut code={refusal.code} />}
      >
        {nextStepOf(refusal.code)}
      </Callout>
    </div>
  );
}

/** `avatar_upload_id: there is none` where nothing on the page has that name: it is the API's, and so is a reason such as `regex_unsupported`. */
const withoutField = (message: string): string => capitalize(withoutReason(message));

/** Out of a page whose thing is gone: to the list it was opened from, by its address. */
function NearestPage() {
  const pathname = usePathname();
  const place = useScopeIfAny();
  const near = place && activeItem(pathname, place);
  return near && hrefOf(near, place) !== pathname ? (
    <LinkButton href={hrefOf(near, place)}>View {inSentence(near.label)}</LinkButton>
  ) : null;
}

/** To what each role may do, when a role is why something was refused; to the door, when the session has ended. */
function WayOut({ code }: { code: string }) {
  const slug = useScopeIfAny()?.slug;
  if (isSignedOut({ type: code })) return <SignInButton />;
  if (!slug || (code !== 'role_denied' && code !== 'forbidden')) return null;
  return (
    <LinkButton size="sm" href={`/${slug}/settings/roles`}>
      View roles
    </LinkButton>
  );
}

/** Its first letter small, but not that of an abbreviation. */
const inSentence = (label: string) => label.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
