import { ErrorPage } from '#components/shell/error-page.tsx';
import { Wordmark } from '#components/shell/mark.tsx';
import { LinkButton } from '#components/ui/button.tsx';

export default function NotFound() {
  return (
    <ErrorPage
      header={<Wordmark />}
      code="404"
      title="Page not found"
      actions={
        <LinkButton href="/" variant="primary">
          Go to your workspace
        </LinkButton>
      }
    >
      Check the address. The page may have been deleted, or it belongs to a workspace you’re not a member of.
    </ErrorPage>
  );
}
