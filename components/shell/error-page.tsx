import type { ReactNode } from 'react';
import { CopyText } from '#components/ui/copy.tsx';

export type ErrorPageProps = {
  /** Short, above the title: "404", "500", "Offline". */
  code: string;
  title: ReactNode;
  /** The cause in words and the next step. */
  children: ReactNode;
  actions?: ReactNode;
  requestId?: string | undefined;
  /** The framework's mark of an error in the server's log, when there is no request id. */
  digest?: string | undefined;
  /** Over a page of its own: whose it is. Absent inside the frame. */
  header?: ReactNode;
};

/** A page that cannot be shown. It says why, what to do, and what to quote when asking for help. */
export function ErrorPage({ code, title, children, actions, requestId, digest, header }: ErrorPageProps) {
  // Inside the frame the page already stands in <main>.
  const Body = header ? 'main' : 'div';
  return (
    <div className={header ? 'flex min-h-dvh flex-col px-5 py-6 sm:px-10' : 'flex flex-1 flex-col px-5 py-16'}>
      {header && <header>{header}</header>}
      <Body className="mx-auto flex w-full max-w-md flex-1 flex-col justify-center pb-16">
        <p className="figures font-medium font-mono text-ink-3 text-xs">{code}</p>
        <h1 className="mt-1 font-semibold text-2xl">{title}</h1>
        <div className="mt-2 text-base text-ink-2">{children}</div>
        {actions && <div className="mt-6 flex flex-wrap gap-2">{actions}</div>}
        {(requestId ?? digest) && (
          <p className="mt-6 flex flex-wrap items-center gap-x-1.5 text-ink-3 text-xs">
            {requestId ? 'Request' : 'Reference'}{' '}
            <CopyText value={requestId ?? digest ?? ''} label={requestId ? 'request ID' : 'reference'} />
          </p>
        )}
      </Body>
    </div>
  );
}
