'use client';

import { useQuery } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useAppearance } from '#components/theme/appearance-provider.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Page, PageHeader, SectionCard, Split, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import type { Mounted } from '../../sdk/elements/mount.ts';
import { cardSnippet, revealSnippet, tokenSnippet } from './snippets.ts';

/** The hosted fields as a customer's page shows them, and what that page gets. Asking for the bundle makes the default key, which the card form seals for. */
export function HostedFieldsView() {
  const trpc = useTRPC();
  const path = usePath();
  const { slug } = useScope();
  const bundle = useQuery(trpc.encryption.bundle.queryOptions({}));
  const elements = useQuery(trpc.elements.get.queryOptions({}));
  const failed = bundle.isError ? bundle : elements.isError ? elements : undefined;
  return (
    <Page>
      <PageHeader
        title="Hosted fields"
        description="Card numbers are typed into a frame of Sallyport. Your page gets a sealed value or a token, never the number."
        back={{ href: path('/encryption'), label: 'Encryption' }}
      />
      {failed ? (
        <QueryError query={failed} what="Hosted fields" />
      ) : !bundle.data || !elements.data ? (
        <Skeleton lines={10} label="Loading hosted fields" />
      ) : (
        <Split side={<RevealDemo />}>
          <CardDemo />
          <SectionCard title="In your page" description="Three lines. The integrity hash is that of the library as it is served.">
            <div className="flex flex-col gap-3">
              {elements.data.origins.length === 0 && (
                <Callout tone="warn" title="No page is registered yet">
                  Browsers show hosted fields only to pages listed under{' '}
                  <Link className={textLink} href={path('/encryption')}>
                    Element origins
                  </Link>
                  . This dashboard is always allowed.
                </Callout>
              )}
              <CodeBlock
                wrap
                snippets={[
                  { ...cardSnippet(elements.data, slug), label: 'Sealed' },
                  tokenSnippet(elements.data, slug),
                  revealSnippet(elements.data, slug),
                ]}
              />
            </div>
          </SectionCard>
        </Split>
      )}
    </Page>
  );
}

function CardDemo() {
  const { api_url, slug } = useScope();
  const theme = useFieldTheme();
  const place = useRef<HTMLDivElement>(null);
  const [round, setRound] = useState(0);
  const [result, setResult] = useState<object>();
  const [fault, setFault] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round mounts another field.
  useEffect(() => {
    const field = mountLater(place.current, ({ mountCard }, target) => mountCard(target, { workspace: slug, theme, baseUrl: api_url }));
    field.result.then(setResult, (error: Error) => setFault(error.message));
    return field.remove;
  }, [slug, api_url, theme, round]);
  const again = () => {
    setResult(undefined);
    setFault(undefined);
    setRound(round + 1);
  };
  return (
    <SectionCard
      title="Card form"
      description="Try 4242 4242 4242 4242. This page can’t read what you type."
      actions={
        (result ?? fault) && (
          <Button size="sm" icon={<RotateCcw />} onClick={again}>
            Start again
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <div ref={place} className="min-h-16 max-w-xl" />
        {fault && <Callout tone="bad" title={fault} />}
        <div role="status" className="empty:hidden">
          {result && (
            <CodeBlock
              wrap
              title="What your page gets"
              snippets={[{ id: 'result', label: 'Result', language: 'json', code: JSON.stringify(result, null, 2) }]}
            />
          )}
        </div>
      </div>
    </SectionCard>
  );
}

function RevealDemo() {
  const { api_url, slug } = useScope();
  const theme = useFieldTheme();
  const place = useRef<HTMLDivElement>(null);
  const [token, setToken] = useState('');
  const [data, setData] = useState('');
  const [asked, setAsked] = useState<{ token: string; data: string }>();
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    if (!asked) return;
    const field = mountLater(place.current, ({ mountReveal }, target) =>
      mountReveal(target, { ...asked, workspace: slug, theme, baseUrl: api_url }),
    );
    field.result.catch((error: Error) => setFault(error.message));
    return field.remove;
  }, [asked, api_url, slug, theme]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setFault(undefined);
    setAsked({ token: token.trim(), data: data.trim() });
    setToken('');
  };
  return (
    <SectionCard title="Reveal" description="Shows one value for 30 seconds to the person in front of the page. The page can’t read it.">
      <form onSubmit={submit} className="flex flex-col gap-3">
        <Field label="Client token" hint="Your backend mints it for this very value. It works once.">
          <Input
            mono
            type="password"
            autoComplete="off"
            placeholder="kct_…"
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </Field>
        <Field label="Vault token or sealed value">
          <Textarea mono rows={2} value={data} onChange={(event) => setData(event.target.value)} />
        </Field>
        <div>
          <Button type="submit" disabledReason={token.trim() && data.trim() ? undefined : 'Fill in both fields first'}>
            Show
          </Button>
        </div>
      </form>
      <div ref={place} className="mt-4 empty:hidden" />
      {fault && <Callout tone="bad" title={fault} className="mt-3" />}
    </SectionCard>
  );
}

/** Mounts a field when the library is there, unless it is no longer wanted by then. */
function mountLater<T>(target: HTMLElement | null, mount: (library: Library, target: HTMLElement) => Mounted<T>) {
  let wanted = true;
  let remove = () => {
    wanted = false;
  };
  const result = import('../../sdk/elements/mount.ts').then((library) => {
    if (!wanted || !target) return new Promise<T>(() => {});
    const field = mount(library, target);
    remove = field.remove;
    return field;
  });
  return { result, remove: () => remove() };
}
type Library = typeof import('../../sdk/elements/mount.ts');

/** What a field calls the theme of this page. */
function useFieldTheme() {
  const { theme } = useAppearance();
  return theme === 'light' || theme === 'dark' ? theme : 'auto';
}
