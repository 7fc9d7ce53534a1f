import { FileUp } from 'lucide-react';
import { useRef } from 'react';
import { Button } from '#components/ui/button.tsx';

/** Hands over the file that a person picks; the same one can be picked again. */
export function FileButton({ onFile }: { onFile: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        className="sr-only"
        tabIndex={-1}
        aria-label="Upload file"
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file) onFile(file);
          event.target.value = '';
        }}
      />
      <Button size="sm" variant="ghost" icon={<FileUp />} onClick={() => input.current?.click()}>
        Upload file
      </Button>
    </>
  );
}
