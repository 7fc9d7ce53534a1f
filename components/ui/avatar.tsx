import { pictureUrl } from '#server/domain/pictures/limits.shared.ts';
import { cn } from './cn.ts';

/** The picture of a person or a workspace; without one, the first letter of the name on a quiet square. Purely to look at: the name stands beside it. */
export function Avatar({
  name,
  picture,
  round,
  className,
}: {
  name: string;
  picture?: string | null | undefined;
  round?: boolean;
  className?: string;
}) {
  return (
    <span
      aria-hidden
      className={cn(
        'relative inline-flex size-5.5 shrink-0 items-center justify-center overflow-hidden border border-line-strong bg-subtle font-semibold text-2xs text-ink-2',
        round ? 'rounded-full' : 'rounded-sm',
        className,
      )}
    >
      {([...name.trim()][0] ?? '·').toUpperCase()}
      {picture && (
        <img
          key={picture}
          src={pictureUrl(picture)}
          alt=""
          // It was replaced since this page was drawn, or the network is away: the letter is under it.
          onError={({ currentTarget }) => hide(currentTarget)}
          ref={(img) => {
            // It may have failed before anybody listened.
            if (img?.complete && img.naturalWidth === 0) hide(img);
          }}
          className="absolute inset-0 size-full bg-subtle"
        />
      )}
    </span>
  );
}

const hide = (img: HTMLImageElement): void => {
  img.hidden = true;
};
