import { ErrorPage } from '#components/shell/error-page.tsx';
import { Wordmark } from '#components/shell/mark.tsx';
import { LinkButton } from '#components/ui/button.tsx';

export default function NotFound() {
  return (
    <ErrorPage
      header={<Wordmark />}
      code="404"
      title="This page does not exist"
      actions={
        <LinkButton href="/" variant="primary">
          Go to your workspace
        </LinkButton>
      }
    >
      The address may be mistyped, what it showed may have been deleted, or it may belong to a workspace you are not a member of.
    </ErrorPage>
  );
}
