// Owns the English words by which files, folders, places, kinds and numbers are named. Data only.
import type { SlotWords } from '../language.ts';
import { meanings, phrases } from '../line/phrases.ts';

export const slots: SlotWords = {
  fileNouns: 'file document doc script source config log spreadsheet page readme note module',
  folderNouns: 'folder directory dir subfolder subdirectory path repo package',
  namedWords: 'called named titled at',
  textNouns:
    'word words string phrase text term expression pattern symbol literal identifier mention mentions occurrences occurrence instances instance references uses usages use usage of to keyword',
  here: phrases(`
    here | this folder | this directory | this dir | the current folder | the current directory |
    current folder | current directory | the current dir | the working directory | working directory |
    the folder | the directory | this project | this repo | this repository | the project folder |
    the project directory | the project root | project root | the root | the root folder |
    the root directory | the repo | the project | my project | the repo root | this place | my folder |
    the current working directory | cwd | the top level | the workspace | this workspace |
    the root of the project | the root of the repo | the root of this project | the root of this repo |
    the folder we are in | the folder i am in | the directory we are in | the directory i am in |
    thesame folder | the same directory | this one | right here | over here |
  `),
  parent: phrases(`
    the parent folder | the parent directory | parent folder | parent directory | one level up |
    thefolder above | the directory above | up one level |
  `),
  home: phrases(`
    my home folder | my home directory | the home folder | the home directory | home directory | home folder |
    myhome |
  `),
  everywhere: phrases(`
    the code | the codebase | codebase | our codebase | my codebase | the source | the source code |
    source code | my code | our code | this code | code | all files | every file | any file | all the files |
    the files | these files | my files | our files | files | the whole project | the whole repo |
    the whole codebase | the entire project | the entire repo | the entire codebase | the repository |
    the whole repository | all of the files | all of the code | all my files | everywhere | the tree |
    the whole tree | the code base | any of the files | any of my files | the whole thing | all the code |
    this codebase | any files | all source files | the source files | the source tree | our repo | my repo |
    repo| project |
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
    .env = env file
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
    *.txt = text | txt
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
    *.pdf = pdf
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
    1 = one | first | a
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
    15 = fifteen
    20 = twenty
    30 = thirty
    40 = forty
    50 = fifty
    60 = sixty
    100 = hundred | a hundred
  `),
};
