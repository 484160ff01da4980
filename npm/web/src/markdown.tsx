// The Markdown that workflows have: code, and what is emphasized. The rest is shown as it is written.

const FENCED = /^```.*\n([^]*?)^```[^\S\n]*$/m;
const INLINE = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\s]|[^*\s][^*\n]*[^*\s])\*/;

function inline(text: string) {
  // Four parts each time: the text before, and what one of the three groups has found.
  return text.split(INLINE).map((part, index) =>
    index % 4 === 1 && part !== undefined ? <code key={index}>{part}</code>
      : index % 4 === 2 && part !== undefined ? <strong key={index}>{part}</strong>
        : index % 4 === 3 && part !== undefined ? <em key={index}>{part}</em> : part);
}

export function Markdown({ text }: { text: string }) {
  return (
    <>
      {text.split(FENCED).map((part, index) =>
        index % 2 === 1 ? <pre key={index} tabIndex={0} aria-label="Code">{part}</pre>
          : part.trim() !== "" && <p key={index} class="action" dir="auto">{inline(part.trim())}</p>)}
    </>
  );
}
