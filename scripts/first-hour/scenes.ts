/** What is typed in docs/guide/first-hour.md, scene by scene, and what has to be on the screen before the next line is typed. */

export interface Scene {
  /** Name of its block in the page. */
  readonly name: string;
  readonly steps: readonly Step[];
  /** Lines of the screen that the block shows: from the first that fits on. Absent: all of it. */
  readonly from?: RegExp;
}

export interface Step {
  readonly type?: string;
  /** Keys after the text; default Enter. */
  readonly press?: readonly string[];
  readonly until: RegExp;
}

const CHAT = /reflex\/1 · \$0 · \/help/;
const GREET = String.raw`printf "export function greet(name) {\n  return 'Hello, ' + name + '.';\n}\n" > greet.js`;
const NOTES = String.raw`printf '# Greet\n\nTODO: say when it shouts.\n' > README.md`;

export function scenes(baseUrl: string): readonly Scene[] {
  return [...withoutModel(), ...withModel(baseUrl), ...fromTheShell()];
}

function withoutModel(): readonly Scene[] {
  return [
    {
      name: 'folder',
      steps: [
        { press: [], until: /^\$/ },
        { type: 'mkdir greet && cd greet', until: /cd greet\n\$ ?$/ },
        { type: GREET, until: /\.js\n\$ ?$/ },
        { type: NOTES, until: /\.md\n\$ ?$/ },
      ],
    },
    { name: 'start', steps: [{ type: 'clear; talaria', until: CHAT }] },
    {
      name: 'read',
      from: /^› show me/,
      steps: [
        { type: 'show me greet.js', until: /› show me[\s\S]*2 steps · reflex/ },
        { type: 'find TODO in this folder', until: /› find TODO[\s\S]*2 steps · reflex/ },
        { type: 'remember that I prefer tabs', until: /› remember[\s\S]*2 steps · reflex/ },
      ],
    },
    {
      name: 'overwrite',
      from: /^› run/,
      steps: [
        { type: 'run `echo nothing > README.md`', until: /y = once/ },
        { type: 'y', until: /\+nothing[\s\S]*2 steps/ },
        { type: '/undo', until: /restored README\.md[\s\S]*The next \/undo/ },
      ],
    },
    {
      name: 'queue',
      from: /^› !sleep/,
      steps: [
        { type: '!sleep 8', until: /running/ },
        { type: 'list the files here', until: /waiting, Up takes/ },
        { type: 'what do you know about tabs', until: /waiting[\s\S]*› what do you know/ },
      ],
    },
    { name: 'answered', from: /^› list/, steps: [{ press: [], until: /Kept about "tabs"[\s\S]*2 steps/ }] },
    { name: 'keys', from: /^Enter /, steps: [{ type: '?', press: [], until: /Ctrl-Z/ }] },
  ];
}

function withModel(baseUrl: string): readonly Scene[] {
  return [
    {
      name: 'model',
      from: /^› \/model/,
      steps: [
        { press: ['Escape'], until: /\/help/ },
        { type: `/model add ${baseUrl}`, until: /it works; from now on/ },
      ],
    },
    {
      name: 'task',
      from: /^› let greet/,
      steps: [{ type: 'let greet shout when it is asked to', until: /HELLO, ADA\.\n[\s\S]*4 steps/ }],
    },
    {
      name: 'retry',
      from: /^› how is that/,
      steps: [
        { type: 'how is that in Dutch?', until: /credit\s+balance[\s\S]*\/retry/ },
        { type: '/retry', until: /Hallo, Ada/ },
      ],
    },
    {
      name: 'status',
      from: /^› \/status/,
      steps: [{ type: '/status', until: /› \/status[\s\S]*home/ }],
    },
    { name: 'context', from: /^› \/context/, steps: [{ type: '/context', until: /› \/context[\s\S]*total/i }] },
    { name: 'leave', from: /^session /, steps: [{ type: '/exit', until: /talaria --resume/ }] },
  ];
}

function fromTheShell(): readonly Scene[] {
  return [
    {
      name: 'pipe',
      from: /^\$ cat README/,
      steps: [
        { type: 'clear', until: /^\$ ?$/ },
        { type: 'cat README.md | talaria -m reflex -p "find TODO in it"', until: /\d[\s\S]*\n\$ ?$/ },
        { type: "talaria -m reflex -p 'run `rm README.md`'; echo exit $?", until: /exit 3/ },
        { type: 'talaria -m scriped-model -p hi; echo exit $?', until: /exit 3[\s\S]*exit 3/ },
      ],
    },
    {
      name: 'resume',
      steps: [{ type: 'clear; talaria --resume', until: /show me greet/ }],
    },
    { name: 'resumed', steps: [{ press: ['Down', 'Down', 'Enter'], until: /\/help/ }] },
  ];
}
