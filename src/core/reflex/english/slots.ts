// Owns the English words by which files, folders, places, kinds and numbers are named. Data only.
import type { SlotWords } from '../language.ts';
import { meanings, phrases } from '../line/phrases.ts';

export const slots: SlotWords = {
  fileNouns: 'file document doc script source config log spreadsheet page readme note module text image picture',
  folderNouns: 'folder directory dir subfolder subdirectory subdir path repo package folders directories',
  kindNouns:
    'files file scripts script documents sources source images ones stylesheets sheets archives code notebooks',
  namedWords: 'called named titled at',
  here: phrases(`
    here|right here|over here|in here|this place|cwd|pwd|around here|
    (this|the (current|working|present|project|root|top|top level|present working|current working)|current|working|project|my (current|project)|our (current|project)) (folder|directory|dir|project|repo|repository|workspace|working directory|working folder)|(the|the whole|my|our) (project|repo|repository|workspace|working directory|working folder)|
    (project|repo|repository) root|the root [folder|directory|level]|the (top|top level|base) (folder|directory|level) [of (the|this|my|our) (project|repo|repository|folder|tree)]|the (folder|directory) (we|i) (are|am) in|this one|where (we|i) (are|am)
  `),
  parent: phrases(`
    [the] parent [folder|directory|dir] [of this [one]]|[one|a] (level|folder|directory) up|up (one|a) (level|folder|directory)|
    [the] (folder|directory|dir|one|level) above [this [one|folder|directory]|it|here|us|the current (one|folder|directory)]|[the] enclosing (folder|directory)
  `),
  home: phrases('(my|the|our) home [folder|directory|dir]|home (folder|directory|dir)'),
  sameFile: phrases(
    'it|(that|this|the same) (file|one|document)|that same file|the file (i|we) just (opened|read|saw|saved)|the file',
  ),
  pipedFile: phrases(
    'this|that|these|those|them|[the|this|that|my] (input|stdin|standard input|piped input|pipe|text|data|piped text)|(what i|what was|the text i) piped [in]',
  ),
  everywhere: phrases(`
    [the|our|my|this|all the|all of the|the whole|the entire|whole|entire|all] (code|codebase|code base|source|source code|sources|source files|source tree|tree|project|repo|repository|workspace|files|file tree|thing)|
    (every|any|each|all) [of] [the|my|our|these] (file|files|code)|these files|everywhere|anywhere|everything|anything|the lot
  `),
  knownFiles: meanings(`
    README.md = readme | read me | readme file
    package.json = package json | package dot json
    Makefile = makefile | make file
    Dockerfile = dockerfile | docker file
    LICENSE = license | licence | license file
    CHANGELOG.md = changelog | change log
    .gitignore = gitignore | git ignore
    tsconfig.json = tsconfig
    .env = env file | dotenv | dot env
    requirements.txt = requirements | requirements file
    Cargo.toml = cargo file | cargo toml
    pyproject.toml = pyproject
    docker-compose.yml = docker compose file | compose file
    CONTRIBUTING.md = contributing guide | contributing
    package-lock.json = package lock
  `),
  fileKinds: meanings(`
    *.ts = typescript | ts
    *.tsx = tsx
    *.js = javascript | js
    *.jsx = jsx
    *.py = python | py
    *.md = markdown | md
    *.json = json
    *.yaml = yaml
    *.yml = yml
    *.toml = toml
    *.txt = text | txt | plaintext
    *.csv = csv
    *.log = log
    *.html = html
    *.css = css
    *.scss = scss
    *.sh = shell | sh | bash
    *.sql = sql
    *.rs = rust | rs
    *.go = go
    *.java = java
    *.c = c
    *.cpp = cpp
    *.rb = ruby | rb
    *.php = php
    *.xml = xml
    *.doc* = word
    *.xls* = excel
    *.mp3 = mp3
    *.mp4 = mp4
    *.r = r
    *.tf = terraform
    *.ipynb = notebook | jupyter | ipynb
    *.tar.gz = tarball
    *.bak = backup
    *.tmp = temp | tmp | temporary
    *.ex = elixir
    *.lua = lua
    *.cs = csharp
    *.svelte = svelte
    *.proto = protobuf | proto
    *.graphql = graphql
    *.h = header
    *.webp = webp
    *.less = less
    *.pdf = pdf
    *.ttf = ttf
    *.woff = woff
    *.woff2 = woff2
    *.otf = otf
    *.ico = ico
    *.eps = eps
    *.psd = psd
    *.webm = webm
    *.mov = mov
    *.avi = avi
    *.mkv = mkv
    *.wav = wav
    *.flac = flac
    *.ogg = ogg
    *.aac = aac
    *.rar = rar
    *.gz = gz
    *.tar = tar
    *.bz2 = bz2
    *.xz = xz
    *.exe = exe
    *.dll = dll
    *.iso = iso
    *.dmg = dmg
    *.deb = deb
    *.rpm = rpm
    *.apk = apk
    *.db = db
    *.sqlite = sqlite
    *.swp = swp
    *.diff = diff
    *.pem = pem
    *.crt = crt
    *.cer = cer
    *.csr = csr
    *.cfg = cfg
    *.conf = conf
    *.properties = properties
    *.gradle = gradle
    *.wasm = wasm
    *.tex = tex
    *.bib = bib
    *.rtf = rtf
    *.odt = odt
    *.ods = ods
    *.odp = odp
    *.docx = docx
    *.xlsx = xlsx
    *.pptx = pptx
    *.ics = ics
    *.vcf = vcf
    *.eml = eml
    *.epub = epub
    *.mobi = mobi
    *.gpx = gpx
    *.geojson = geojson
    *.parquet = parquet
    *.npy = npy
    *.pkl = pkl
    *.onnx = onnx
    *.sol = sol
    *.dart = dart
    *.jl = jl
    *.clj = clj
    *.erl = erl
    *.zig = zig
    *.nim = nim
    *.f90 = f90
    *.asm = asm
    *.ps1 = ps1
    *.mdx = mdx
    *.rst = rst
    *.adoc = adoc
    *.astro = astro
    *.sass = sass
    *.styl = styl
    *.png = png
    *.jpg = jpg | jpeg
    *.svg = svg
    *.gif = gif
    *.swift = swift
    *.kt = kotlin
    *.vue = vue
    *.ini = ini
    *.lock = lock
    *.zip = zip
    *.env* = env
    *test* = test | tests
    *spec* = spec
    *config* = config | configuration
    *ocker* = docker
  `),
  numbers: meanings(`
    1 = one | first | a | 1st
    2 = two | a couple | a couple of | couple of
    3 = three | a few | few
    4 = four
    5 = five
    6 = six
    7 = seven
    8 = eight
    9 = nine
    10 = ten
    11 = eleven
    12 = twelve | dozen | a dozen
    13 = thirteen
    14 = fourteen
    15 = fifteen
    16 = sixteen
    17 = seventeen
    18 = eighteen
    19 = nineteen
    20 = twenty | a score
    30 = thirty
    40 = forty
    50 = fifty
    60 = sixty
    70 = seventy
    80 = eighty
    90 = ninety
    100 = hundred | a hundred
  `),
};
