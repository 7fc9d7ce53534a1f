'use client';

import { Inbox, RotateCw } from 'lucide-react';
import { Fragment, useCallback, useEffect, useState } from 'react';
import { Wordmark } from '#components/shell/mark.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { callAuth } from './call.ts';

type Mail = { id: string; recipient: string; subject: string; text: string; created_at: string };

/** The mails of an installation that sends none, newest first; new ones appear by themselves. */
export function Mailbox() {
  const [mails, setMails] = useState<Mail[]>();
  const [problem, setProblem] = useState<string>();
  const load = useCallback(async () => {
    const answer = await callAuth<{ mails: Mail[] }>('/auth/mailbox');
    if (answer.ok) setMails(answer.data.mails);
    setProblem(answer.ok ? undefined : answer.refusal.type === 'not_found' ? CLOSED : answer.refusal.message);
    return answer.ok;
  }, []);
  useEffect(() => {
    void load();
    const timer = setInterval(() => document.visibilityState === 'visible' && void load(), 3_000);
    return () => clearInterval(timer);
  }, [load]);

  return (
    <div className="mx-auto flex min-h-dvh w-full max-w-2xl flex-col px-5 py-6">
      <header className="flex items-center justify-between gap-3">
        <Wordmark />
        <Button icon={<RotateCw />} onClick={() => void load()}>
          Refresh
        </Button>
      </header>
      <main className="py-8">
        <h1 className="font-semibold text-2xl">Local mailbox</h1>
        <p className="mt-1.5 text-ink-2">
          SMTP_URL is not set, so emails are kept here instead of being sent. Only a browser on this machine can read them.
        </p>
        <div className="mt-6 flex flex-col gap-3">
          {problem && <Callout tone="warn" title={problem} />}
          {!problem && mails?.length === 0 && (
            <EmptyState icon={<Inbox />} title="No emails yet">
              Sign-up links, sign-in codes and notifications appear here within seconds.
            </EmptyState>
          )}
          {mails?.map((mail) => (
            <MailCard key={mail.id} mail={mail} />
          ))}
        </div>
      </main>
    </div>
  );
}

const CLOSED = 'The local mailbox is only available on the machine that runs Sallyport, while SMTP_URL is not set.';

function MailCard({ mail }: { mail: Mail }) {
  return (
    <article className="rounded-lg border border-line-strong bg-surface p-4">
      <header className="flex flex-wrap items-baseline justify-between gap-x-3">
        <h2 className="font-medium">{mail.subject}</h2>
        <time dateTime={mail.created_at} className="figures text-ink-3 text-xs">
          {new Date(mail.created_at).toLocaleTimeString()}
        </time>
      </header>
      <p className="text-ink-3 text-xs">To {mail.recipient}</p>
      <p className="mt-3 whitespace-pre-wrap text-ink-2 [overflow-wrap:anywhere]">{linked(mail.text)}</p>
    </article>
  );
}

/** The text with its own links made clickable; they open here, since the browser that started a sign-up should finish it. */
function linked(text: string) {
  const parts = text.split(/(https?:\/\/\S+)/);
  return parts.map((part, i) => (
    <Fragment key={parts.slice(0, i).join('').length}>{/^https?:/.test(part) ? <Address url={part} /> : part}</Fragment>
  ));
}

const Address = ({ url }: { url: string }) => (
  <a href={url} className="text-accent-ink underline">
    {url}
  </a>
);
